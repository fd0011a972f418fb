"""What reached the model, judged by the requests that a client sent to it."""

import json


def texts(value):
    """Yields every text in a request, descriptions of tools and names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def request_text(request):
    """Returns what the model reads of a request: the system prompt, the messages and the tools, as one text."""
    parts = [request.get(part) for part in ("system", "systemInstruction", "instructions", "messages", "input", "contents", "tools")]
    return "\n".join(text for part in parts for text in texts(part))


def arrived_characters(request, sent):
    """Returns how many characters of a text that the server sent are in the request, from its start; some clients indent it."""
    found, longest = list(texts(request)), 0
    for indent in ("", "  ", "    "):
        indented = sent.replace("\n", "\n" + indent)
        low, high = 0, len(indented)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if any(indented[:middle] in text for text in found) else (low, middle - 1)
        longest = max(longest, len(indented[:low].replace("\n" + indent, "\n")))
    return longest


def results(request):
    """Returns the tool results of a request, in order, whatever its wire format."""
    for message in request.get("messages", []):
        if message.get("role") == "tool":
            yield message.get("content")
            continue
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            if block.get("type") == "tool_result":
                yield block.get("content")
    for item in request.get("input", []):
        if isinstance(item, dict) and item.get("type", "").endswith("_output"):
            yield item.get("output")
    for content in request.get("contents", []):
        parts = content.get("parts", [])
        for at, part in enumerate(parts):
            if "functionResponse" in part:
                # Pictures follow as parts of their own.
                yield [part["functionResponse"], *(other for other in parts[at + 1 :] if "inlineData" in other)]


def is_connected(turns, script):
    """Returns whether every call of the script has a result, and none says that there is no such tool."""
    found = list(results(turns[-1])) if turns else []
    missing = ("InputValidationError", "No such tool", "No matching deferred tools", "unsupported call")
    return len(found) == len(script) and not any(word in text for result in found for text in texts(result) for word in missing)


def has_text(result, expected):
    """Returns whether a tool result has a text byte for byte; quoted inside JSON it does not count."""
    return any(expected in text for text in texts(result))


def has_image(result):
    if isinstance(result, dict):
        named = "inlineData" in result or result.get("type") in ("image", "input_image", "image_url")
        return named or has_image(list(result.values()))
    return isinstance(result, list) and any(has_image(part) for part in result)


def listing(turns, server):
    """Judges the listing: how many skills it has, and what of it reached the model."""
    # Clients remove white space at the end.
    sent = server.instructions.rstrip()
    length = max((arrived_characters(turn, sent) for turn in turns), default=0)
    entries = server.entries()
    whole = [(description, end) for _, description, end in entries if end <= length]
    return {
        "listed": len(entries),
        "arrived": sum(bool(description.strip()) for description, _ in whole),
        "empty": sum(not description.strip() for description, _ in whole),
        "cut": len(sent) - length,
        "chars": length,
        "text": sent[:length],
        "search_hint": "search_skills" in sent[:length],
    }


def answers(turns, envelope, skipped):
    """Judges the answers: whether the loaded skill arrived as its envelope, and an image as an image."""
    found = list(results(turns[-1]))[skipped:] if turns else []
    return {
        "envelope": len(found) > 0 and has_text(found[0], envelope),
        "image": len(found) > 1 and has_image(found[1]),
    }


def kept(turns):
    """Returns the requests as text, to be kept in the cache folder."""
    return json.dumps(turns, indent=1, ensure_ascii=False)
