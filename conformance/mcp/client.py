"""Asks `skillfold serve` for everything by the official Python client, over both transports and both lifecycles.

    python client.py URL FOLDER SERVE...

URL is that of a running server; FOLDER is one of the folders of skills that it serves, where skills come and go; SERVE is the
command that serves the same skills by stdin and stdout.
"""

import asyncio
import hashlib
import pathlib
import shutil
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import Request, Result


class Anything(Result):
    """A result that keeps its fields."""

    model_config = {"extra": "allow"}


async def ask(client, method, **params):
    """Sends a request of the extension, which the client has no method for."""
    request = Request[dict, str](method=method, params=params)
    result = await client.session.send_request(request, Anything)
    return result.model_extra


async def tools(client):
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(listed) == ["search_skills", "load_skill", "read_skill_resource", "list_skills"], list(listed)
    assert all(tool.output_schema for tool in listed.values())
    found = await client.call_tool("search_skills", {"query": "filled form"})
    assert found.structured_content["skills"][0]["id"] == "pdf-forms", found
    first = (await client.call_tool("list_skills", {})).structured_content
    rest = (await client.call_tool("list_skills", {"cursor": first["next"]})).structured_content
    assert len(first["skills"]) == 50 and "next" not in rest, (first, rest)
    assert len(first["skills"]) + len(rest["skills"]) == first["total"], (first, rest)
    loaded = await client.call_tool("load_skill", {"skill_id": "pdf-forms", "arguments": "tax.pdf"})
    assert not loaded.is_error and "on tax.pdf." in loaded.content[0].text, loaded
    assert loaded.structured_content["text"] == loaded.content[0].text
    alias = await client.call_tool("read_skill", {"skill_id": "pdf-forms"})
    assert alias.content[0].text.startswith("Skill loaded: pdf-forms (approx. "), alias
    file = await client.call_tool("read_skill_resource", {"skill_id": "pdf-forms", "path": "references/fields.md"})
    assert file.content[0].text == "# Fields\n", file
    image = await client.call_tool("read_skill_resource", {"skill_id": "pdf-forms", "path": "assets/dot.png"})
    assert image.content[0].type == "image", image
    missing = await client.call_tool("load_skill", {"skill_id": "pdf-form"})
    assert missing.is_error and missing.structured_content["nearest"][0] == "pdf-forms", missing
    outside = await client.call_tool("read_skill_resource", {"skill_id": "pdf-forms", "path": "../welcome/SKILL.md"})
    assert outside.is_error and outside.structured_content["error"] == "refused", outside
    person = await client.call_tool("load_skill", {"skill_id": "person-only"})
    assert person.is_error, person


async def prompts(client):
    found, cursor = {}, None
    while True:
        page = await client.list_prompts(cursor=cursor)
        found |= {prompt.name: prompt for prompt in page.prompts}
        cursor = page.next_cursor
        if cursor is None:
            break
    assert "person-only" in found and found["welcome"].arguments[0].description == "[name]", found
    assert [argument.name for argument in found["test_prompt_with_arguments"].arguments] == ["arg1", "arg2"]
    given = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a b", "arg2": 'c"d'})
    assert "arg1='a b', arg2='c\"d'" in given.messages[0].content.text, given
    greeting = await client.get_prompt("welcome", {"arguments": "Ada"})
    assert "Say hello to Ada." in greeting.messages[0].content.text, greeting


async def skills(client):
    """Reads every file of every skill, as a host does that verifies them."""
    entries, cursor, pages = [], None, 0
    while True:
        page = await ask(client, "skills/list", **({"cursor": cursor} if cursor else {}))
        entries += page["skills"]
        pages += 1
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    names = [entry["frontmatter"]["name"] for entry in entries]
    assert pages == 2 and "pdf-forms" in names, (pages, names)
    assert not {"loose-colon", "person-only", "test_simple_prompt"} & set(names), names
    for entry in entries[:3]:
        for file in entry["resources"]:
            content = (await client.read_resource(file["uri"])).contents[0]
            text = getattr(content, "text", None)
            data = text.encode() if text is not None else __import__("base64").b64decode(content.blob)
            assert len(data) == file["size"], file
            assert "sha256:" + hashlib.sha256(data).hexdigest() == file["digest"], file
        again = await ask(client, "skills/get", uri=entry["uri"])
        assert again["skill"] == entry, (again, entry)
    folder = await ask(client, "resources/directory/read", uri="skill://pdf-forms/references")
    assert [child["name"] for child in folder["resources"]] == ["fields.md", "regional"], folder
    for uri in ["skill://loose-colon/SKILL.md", "skill://person-only/SKILL.md", "skill://pdf-forms/../welcome/SKILL.md"]:
        try:
            await client.read_resource(uri)
        except MCPError as error:
            assert error.error.code in (-32602, -32002), error
        else:
            raise AssertionError(f"{uri} was read")


async def reload(client, heard, folder):
    """A skill comes and goes; the client is told, and sees it."""
    skill = pathlib.Path(folder) / "comes-and-goes"

    async def seen():
        found = await client.call_tool("list_skills", {"query": "comes-and-goes"})
        return [one["id"] for one in found.structured_content["skills"]]

    async def change_and_hear():
        if client.protocol_version < "2026":
            heard.clear()
            yield
            for _ in range(600):
                if {"tools", "prompts", "resources"} <= heard:
                    return
                await asyncio.sleep(0.05)
            raise AssertionError(f"only {heard} was heard")
        everything = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
        async with client.listen(**everything) as events:
            yield
            for _ in range(3):
                await asyncio.wait_for(anext(aiter(events)), 30)

    assert await seen() == []
    async for _ in change_and_hear():
        skill.mkdir()
        (skill / "SKILL.md").write_text("---\nname: comes-and-goes\ndescription: Here for a while\n---\nBe brief.\n")
    assert await seen() == ["comes-and-goes"]
    async for _ in change_and_hear():
        shutil.rmtree(skill)
    assert await seen() == []


async def check(name, server, mode, folder):
    heard = set()

    async def hear(message):
        method = getattr(message, "method", "")
        if method.endswith("/list_changed"):
            heard.add(method.split("/")[1])

    async with Client(server, mode=mode, message_handler=hear) as client:
        assert client.server_info.name == "skillfold", client.server_info
        assert "load_skill" in client.instructions and "welcome" in client.instructions, client.instructions
        await tools(client)
        await prompts(client)
        await skills(client)
        await reload(client, heard, folder)
        print(f"Python client over {name}, protocol {client.protocol_version}: passed")


async def main():
    url, folder, *serve = sys.argv[1:]
    stdio = StdioServerParameters(command=serve[0], args=serve[1:])
    for mode in ["auto", "legacy"]:
        await check("HTTP", url, mode, folder)
        await check("stdio", stdio, mode, folder)


asyncio.run(main())
