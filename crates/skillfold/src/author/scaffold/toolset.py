def greet(args, ctx):
    return f"Hello {args['name']}"


tools = [
    {
        "name": "greet",
        "description": "Greets someone by name",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
        "execute": greet,
    }
]
