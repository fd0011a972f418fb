"""Tools in Python: python3 -c "import toolset as t; print(t.TextToolset().tools[0].execute({'text': 'a b'}, None))" """


class CountWords:
    name = "count-words"
    description = "Counts the words of a text, and of all texts so far"
    parameters = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text to count"}},
        "required": ["text"],
        "additionalProperties": False,
    }

    def __init__(self):
        self.total = 0

    def execute(self, args, ctx):
        words = len(args["text"].split())
        self.total += words
        return {"title": "Counted", "metadata": {"words": words}, "output": f"{words} words, {self.total} so far"}


class TextToolset:
    def __init__(self):
        self.tools = [CountWords()]
