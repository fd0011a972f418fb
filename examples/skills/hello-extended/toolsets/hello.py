"""A toolset in Python. One process serves it, so `GreetGroup` knows whom it has greeted."""

from scripts.greet import greet


class GreetGroup:
    name = "greet-group"
    description = "Greets several people in one line, and leaves out those that it greeted before"
    parameters = {
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}, "description": "Who is greeted"},
            "language": {"type": "string", "description": "English if left out"},
        },
        "required": ["names"],
        "additionalProperties": False,
    }

    def __init__(self):
        self.greeted = set()

    def execute(self, args, ctx):
        new = [name for name in dict.fromkeys(args["names"]) if name not in self.greeted]
        if args["names"] and not new:
            return {"title": "Nobody is new", "metadata": {"greeted": 0}, "output": "All of them were greeted before."}
        line = greet(new, args.get("language", "english"))
        self.greeted.update(new)
        return {"title": f"Greeted {len(new)}", "metadata": {"greeted": len(new)}, "output": line}


class HelloToolset:
    def __init__(self):
        self.tools = [GreetGroup()]
