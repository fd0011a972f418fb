"""A model that follows a script: an HTTP endpoint that keeps every request and answers with the next tool call of its
script, or with "ok" when there is none left. A script is a list of calls; or one list for each prompt, such as that of an agent
that the first prompt starts.

Each wire format is a class: which request is a turn of the conversation, how many tool results it carries, and how an answer
is written.
"""

import http.server
import json
import subprocess
import threading

SECONDS_FOR_AGENTS = 20


class Anthropic:
    """The Messages API, as Claude Code speaks it."""

    @staticmethod
    def is_turn(path, request):
        # Requests without tools are the client's own, such as for a title.
        return path.split("?")[0].endswith("/messages") and bool(request.get("tools"))

    @staticmethod
    def results(request):
        """Returns how many tool results the request carries."""
        blocks = [block for message in request["messages"] if isinstance(message["content"], list) for block in message["content"]]
        return sum(block.get("type") == "tool_result" for block in blocks)

    @staticmethod
    def answer(path, request, call, number):
        """Returns the type and the bytes of the answer; `call` is a tool and its input, or None for a text."""
        if "messages" not in request:
            return "application/json", b"{}"
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model", "model")}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        if call:
            stop, block = "tool_use", {"type": "tool_use", "id": f"toolu_{number}", "name": call["tool"], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call["input"])}
        else:
            stop, block, delta = "end_turn", {"type": "text", "text": ""}, {"type": "text_delta", "text": "ok"}
        if not request.get("stream"):
            block |= {"input": call["input"]} if call else {"text": "ok"}
            return "application/json", json.dumps(message | {"content": [block], "stop_reason": stop}).encode()
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        return "text/event-stream", server_sent(events)


class Responses:
    """OpenAI's Responses API, as Codex speaks it."""

    @staticmethod
    def is_turn(path, request):
        return path.split("?")[0].endswith("/responses") and bool(request.get("tools"))

    @staticmethod
    def results(request):
        return sum(item.get("type", "").endswith("_output") for item in request["input"] if isinstance(item, dict))

    @staticmethod
    def answer(path, request, call, number):
        if "input" not in request:
            return "application/json", b'{"data": [], "models": []}'
        if call:
            item = {"id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
            item |= {"type": "function_call", "name": call["tool"], "arguments": json.dumps(call["input"])}
            item |= call.get("item", {})
        else:
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
            item |= {"content": [{"type": "output_text", "text": "ok", "annotations": []}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": usage}
        events = [
            {"type": "response.created", "response": response | {"status": "in_progress", "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        return "text/event-stream", server_sent(events)


class Chat:
    """OpenAI's Chat Completions, as Qwen Code speaks them."""

    @staticmethod
    def is_turn(path, request):
        return path.split("?")[0].endswith("/chat/completions") and bool(request.get("tools"))

    @staticmethod
    def results(request):
        return sum(message.get("role") == "tool" for message in request["messages"])

    @staticmethod
    def answer(path, request, call, number):
        if "messages" not in request:
            return "application/json", b"{}"
        message = {"role": "assistant", "content": None if call else "ok"}
        if call:
            function = {"name": call["tool"], "arguments": json.dumps(call["input"])}
            message["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": f"chat_{number}", "created": 1, "model": request.get("model", "model")}
        reason = "tool_calls" if call else "stop"
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return "application/json", json.dumps(answer | {"object": "chat.completion", "choices": [choice], "usage": usage}).encode()
        answer["object"] = "chat.completion.chunk"
        chunks = [
            answer | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            answer | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        ]
        return "text/event-stream", "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


class Gemini:
    """Google's generateContent, as Gemini CLI speaks it."""

    @staticmethod
    def is_turn(path, request):
        return "enerateContent" in path and bool(request.get("tools"))

    @staticmethod
    def results(request):
        return sum("functionResponse" in part for content in request["contents"] for part in content.get("parts", []))

    @staticmethod
    def answer(path, request, call, number):
        if "contents" not in request:
            return "application/json", b"{}"
        part = {"functionCall": {"name": call["tool"], "args": call["input"]}} if call else {"text": "ok"}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        answer = {"candidates": [candidate], "usageMetadata": usage, "responseId": f"response_{number}"}
        if "streamGenerateContent" not in path:
            return "application/json", json.dumps(answer).encode()
        return "text/event-stream", f"data: {json.dumps(answer)}\n\n".encode()


WIRES = {"anthropic": Anthropic, "responses": Responses, "chat": Chat, "gemini": Gemini}


def server_sent(events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def decoded(body, encoding):
    """Returns a request's body as JSON, or {} if it is not."""
    if encoding == "zstd":
        body = subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout
    try:
        request = json.loads(body)
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}


def next_call(wire, scripts, request):
    """Returns the last prompt of the scripts that a request has, and the call that follows the results since then."""
    field = next(field for field in ("messages", "input", "contents") if field in request)
    items, found = request[field], []
    for prompt in scripts:
        users = (at for at, item in enumerate(items) if item.get("role") == "user" and prompt in json.dumps(item))
        found += [(at, prompt) for at in list(users)[:1]]
    if not found:
        return None, None
    at, prompt = max(found)
    done = wire.results(request | {field: items[at:]})
    return prompt, scripts[prompt][done] if done < len(scripts[prompt]) else None


class ScriptedModel:
    """Listens on a free port of the loopback until it is closed; `turns` are the requests of the conversation. The first
    prompt's last answer waits for the others, so that a client does not end before its agents; after it, the script is over."""

    def __init__(self, wire, script, marker=""):
        self.turns, self.others, lock = [], [], threading.Lock()
        self.is_over = threading.Event()
        scripts = script if isinstance(script, dict) else {"": script}
        first = next(iter(scripts))
        ended = {prompt: threading.Event() for prompt in scripts if prompt != first}
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def send(self, kind, body):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                model.others.append(f"GET {self.path}")
                self.send("application/json", b'{"data": [], "models": []}')

            def do_HEAD(self):
                self.send("application/json", b"")

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                request = decoded(body, self.headers.get("content-encoding"))
                with lock:
                    prompt, call = None, None
                    if wire.is_turn(self.path, request) and marker in json.dumps(request):
                        prompt, call = next_call(wire, scripts, request)
                        model.turns.append(request)
                    else:
                        model.others.append(f"POST {self.path}")
                    number = len(model.turns) + len(model.others)
                if prompt == first and not call:
                    for event in ended.values():
                        event.wait(SECONDS_FOR_AGENTS)
                self.send(*wire.answer(self.path, request, call, number))
                if prompt == first and not call:
                    model.is_over.set()
                if prompt in ended and not call:
                    ended[prompt].set()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
