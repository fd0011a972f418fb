"""Imports the tools of a Python module, and speaks for them as an MCP server over standard input and output.

Started in the sandbox as `python3 host.py /skill/toolsets/index.py Name`; the name is empty for the default.
"""

import importlib.util
import inspect
import json
import os
import sys
import traceback
import types

DEFAULTS = ("toolset", "tools")
EMPTY_SCHEMA = {"type": "object", "properties": {}}


def main():
    requests, answers = separate_streams()
    path, name = sys.argv[1:3]
    sys.argv = [path]
    host, failure = None, None
    try:
        host = Host(load(path, name))
    except BaseException as error:
        failure = describe(error)
    for line in requests:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if failure is not None:
            answer["error"] = {"code": -32000, "message": failure}
        else:
            answer.update(host.answer(message["method"], message.get("params") or {}))
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def separate_streams():
    """Keeps the messages apart from what the tools read and print: their output goes to standard error."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


class Host:
    def __init__(self, tools):
        self.tools = {tool.name: tool for tool in tools}
        self.listed = [tool.spec() for tool in tools]
        self.loop = None

    def answer(self, method, params):
        if method == "initialize":
            version = params.get("protocolVersion")
            server = {"name": "skillfold-python", "version": "1"}
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}}
        if method == "tools/list":
            return {"result": {"tools": self.listed}}
        if method == "tools/call" and params.get("name") in self.tools:
            return {"result": self.call(self.tools[params["name"]], params.get("arguments") or {})}
        return {"error": {"code": -32601, "message": "Method not found"}}

    def call(self, tool, arguments):
        try:
            return to_result(self.settle(tool.execute(arguments)))
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            text = "".join(traceback.format_exception_only(type(error), error)).strip()
            return {"content": [{"type": "text", "text": text}], "isError": True}

    def settle(self, value):
        """Waits for what is awaitable, always in the same loop."""
        if not inspect.isawaitable(value):
            return value
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
        return self.loop.run_until_complete(asyncio.ensure_future(value, loop=self.loop))


class Tool:
    """A tool, which the module has as a mapping or as an object."""

    def __init__(self, tool, key):
        def field(name, default=None):
            return tool.get(name, default) if isinstance(tool, dict) else getattr(tool, name, default)

        self.name = field("name") or key
        self.description = field("description") or ""
        self.parameters = field("parameters")
        self.function = field("execute")
        if inspect.isroutine(tool):
            example = {"name": tool.__name__, "description": "…", "parameters": EMPTY_SCHEMA}
            raise TypeError("a function alone is no tool: write %r with \"execute\": %s" % (example, tool.__name__))
        if not isinstance(self.name, str) or not callable(self.function):
            raise TypeError("a tool needs a `name` and a function `execute`: %.200r" % (tool,))
        self.takes_context = takes_two(self.function)
        self.context = types.SimpleNamespace(skill=os.getcwd(), scratch=os.environ.get("TMPDIR"), tool=self.name)

    def spec(self):
        return {"name": self.name, "description": self.description, "inputSchema": self.schema()}

    def schema(self):
        if self.parameters is None:
            return EMPTY_SCHEMA
        if hasattr(self.parameters, "model_json_schema"):
            return self.parameters.model_json_schema()
        if isinstance(self.parameters, dict):
            return self.parameters
        raise TypeError("`parameters` of `%s` is neither a JSON schema nor a pydantic model" % self.name)

    def execute(self, arguments):
        if hasattr(self.parameters, "model_validate"):
            arguments = self.parameters.model_validate(arguments)
        return self.function(arguments, self.context) if self.takes_context else self.function(arguments)


def takes_two(function):
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def load(path, name):
    """Imports the module and returns the tools of its export."""
    folder = os.path.dirname(path)
    # Ours is in the folder of this file; theirs are beside the module and at the root of the skill.
    sys.path[0:1] = [folder, os.getcwd()] if folder != os.getcwd() else [folder]
    sys.dont_write_bytecode = True
    package = types.ModuleType("skill_toolset")
    package.__path__ = [folder]
    sys.modules[package.__name__] = package
    module_name = package.__name__ + "." + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return tools_of(export_of(module, name))


def export_of(module, name):
    names = (name,) if name else DEFAULTS
    for name in names:
        if hasattr(module, name):
            return getattr(module, name)
    known = ", ".join(sorted(key for key in vars(module) if not key.startswith("_")))
    wanted = " or ".join("`%s`" % name for name in names)
    raise AttributeError("the module has no %s; it has: %s" % (wanted, known))


def tools_of(value):
    if isinstance(value, type):
        value = value()
    if isinstance(value, dict):
        value = value.get("tools", [value] if "execute" in value else value)
    elif hasattr(value, "tools"):
        value = value.tools
    elif hasattr(value, "execute"):
        value = [value]
    if callable(value):
        value = Host([]).settle(value())
    if isinstance(value, dict):
        return [Tool(tool, key) for key, tool in value.items()]
    if isinstance(value, (list, tuple)):
        return [Tool(tool, None) for tool in value]
    raise TypeError("the export is no list of tools, and has no `tools`")


def to_result(value):
    """Makes the result of a call from a text, or from a mapping or object with `output`, `title` and `metadata`."""
    fields = value
    if not isinstance(value, dict) and hasattr(value, "output"):
        fields = {key: getattr(value, key, None) for key in ("title", "metadata", "output")}
    if not isinstance(fields, dict) or "output" not in fields:
        fields = {"output": value}
    meta = {}
    if fields.get("title"):
        meta["skillfold/title"] = str(fields["title"])
    if fields.get("metadata"):
        meta["skillfold/metadata"] = fields["metadata"]
    result = {"content": [{"type": "text", "text": to_text(fields["output"])}], "_meta": meta}
    # What is not JSON fails here, as the tool's fault, and not when it is sent.
    json.dumps(result, allow_nan=False)
    return result


def to_text(value):
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, allow_nan=False)


def describe(error):
    """Returns the end of the traceback, without the frames of this file and of the import system."""
    frames = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in frames if frame.filename != __file__ and "importlib" not in frame.filename]
    lines = traceback.format_list(frames[-2:])
    lines += traceback.format_exception_only(type(error), error)
    return "".join(lines).strip()


main()
