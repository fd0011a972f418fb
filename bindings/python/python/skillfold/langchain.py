"""Skills for LangChain agents, and for deepagents.

>>> from langchain.agents import create_agent  # doctest: +SKIP
>>> from skillfold import Skills
>>> from skillfold.langchain import SkillMiddleware
>>> agent = create_agent(model, middleware=[SkillMiddleware(Skills.discover())])  # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ExtendedModelResponse
from langchain.agents.middleware.types import PrivateStateAttr

# ToolNode reads the annotations of a tool at run time.
from langchain.tools import ToolRuntime  # noqa: TC002
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.types import Command
from typing_extensions import NotRequired

from skillfold.errors import SkillfoldError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.tools import BaseTool

    from skillfold import AgentSkills, Session, Skills, views
    from skillfold._arguments import Disclosure, Matching

__all__ = ["SkillMiddleware", "SkillState", "create_skill_tools"]

Content: TypeAlias = "str | list[str | dict[Any, Any]]"
Called: TypeAlias = "ToolMessage | Command[Any]"
Told: TypeAlias = dict[str, str | None]

# The key in `SkillState.skill_texts` of the text that is given again after a compaction.
_START = ""


class SkillState(AgentState[Any]):
    """What the middleware keeps in an agent's state. A checkpointer saves it; sub-agents and callers do not get it."""

    skill_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """The saved state of the conversation: ids, numbers and arguments of loaded skills."""
    skill_texts: NotRequired[Annotated[Told, PrivateStateAttr]]
    """For the id of each message of the user, the text that precedes it in requests, or `None`.

    For the id of a tool's answer that has instructions, an empty text. A message without an id has a digest.
    """


class SkillMiddleware(AgentMiddleware[SkillState, Any, Any]):
    """Adds to each model call what the user's messages need, and offers the tools to search, load and read skills.

    A text stands before the message that needed it, in this call and in all later ones, so that a prompt cache keeps
    it. Only requests to the model have it: the agent's messages stay as they are. What was given is kept in the agent's
    state, so that nothing is given twice. After messages were summarized or removed, the skills in use are given again.
    """

    state_schema = SkillState
    tools: Sequence[BaseTool]

    def __init__(  # noqa: PLR0913
        self,
        skills: Skills | AgentSkills,
        max_skills: int = 3,
        *,
        disclosure: Disclosure = "triggered",
        breadcrumb: bool = False,
        matching: Matching | None = None,
        body_tokens: int | None = None,
        tools: Collection[str] | None = None,
        enforce_tools: bool = False,
    ) -> None:
        """Create the middleware for an agent.

        Args:
            skills: All skills, or those of one agent from `Skills.bind`. The skills that such an agent uses are in its
                prompt already, by `AgentSkills.compose`.
            max_skills: How many skills one message of the user brings at most.
            disclosure: Whether the system prompt lists skills, and messages bring instructions. With `triggered` there
                is no list.
            breadcrumb: Whether a message that needs no skill adds how many there are; only with `triggered`.
            matching: How skills are matched, if not as the settings say.
            body_tokens: Limits the instructions that one message brings.
            tools: The names of the tools to offer, if not all. There are none while there are no skills.
            enforce_tools: Whether a call of another tool is refused while the model has skills with `allowed-tools` and
                none of them includes it. What a shell is given is its argument `command`.

        """
        super().__init__()
        self._skills = skills
        self._has_listing = disclosure != "triggered"
        self._enforces_tools = enforce_tools
        self._options: dict[str, Any] = {
            "max_per_request": max_skills,
            "disclosure": disclosure,
            "breadcrumb": breadcrumb,
            "matching": matching,
            "body_tokens": body_tokens,
        }
        offered = [tool for tool in self.session({}).tools() if tools is None or tool.name in tools]
        self.tools = [self._tool(tool) for tool in offered]

    def session(self, state: Mapping[str, Any]) -> Session:
        """Return the conversation of an agent's state, such as `agent.get_state(config).values`.

        It is a copy: what is given through it is not kept in the agent's state.
        """
        return self._skills.session(state=state.get("skill_session"), **self._options)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Call the model with what it needs to know about skills. The state changes only if the call succeeds."""
        prepared, command = self._prepare(request)
        return ExtendedModelResponse(handler(prepared), command)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ExtendedModelResponse[Any]:
        """Do what `wrap_model_call` does; skills are matched on another thread."""
        prepared, command = await asyncio.to_thread(self._prepare, request)
        return ExtendedModelResponse(await handler(prepared), command)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Called]) -> Called:
        """Call a tool, unless the skills in use do not allow it and the middleware enforces that."""
        return self._refusal(request) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Called]]
    ) -> Called:
        """Do what `wrap_tool_call` does; skills are asked on another thread."""
        return await asyncio.to_thread(self._refusal, request) or await handler(request)

    def _refusal(self, request: ToolCallRequest) -> ToolMessage | None:
        call = request.tool_call
        if not self._enforces_tools or call["name"] in [tool.name for tool in self.tools]:
            return None
        if self.session(request.state).check_tool(call["name"], _argument(call["args"])) is not False:
            return None
        text = f"The skills in use do not list this use of `{call['name']}` under `allowed-tools`; go on without it"
        return ToolMessage(text, name=call["name"], tool_call_id=call["id"] or "", status="error")

    def _prepare(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], Command[Any] | None]:
        session = self.session(request.state)
        known = cast("Told", request.state.get("skill_texts", {}))
        told = _told(session, request.messages, known)
        again = told.get(_START)
        messages: list[AnyMessage] = [_message(again)] if again else []
        for key, message in zip(_keys(request.messages), request.messages, strict=True):
            text = told.get(key)
            messages += [_message(text), message] if text else [message]
        system = request.system_message
        if self._has_listing:
            system = _appended(system, session.listing().text)
        changes = {"skill_session": session.save(), "skill_texts": told}
        command: Command[Any] | None = None if told == known else Command(update=changes)
        return request.override(messages=messages, system_message=system), command

    def _tool(self, tool: views.Tool) -> StructuredTool:
        # A call answers from a copy of the conversation: calls run in parallel, and the state has no place where two of
        # them could write. The next call of the model records what they gave.
        def call(runtime: ToolRuntime[Any, Any], **arguments: object) -> tuple[Content, object]:
            return _answer(self.session(runtime.state), tool.name, arguments)

        async def acall(runtime: ToolRuntime[Any, Any], **arguments: object) -> tuple[Content, object]:
            return await asyncio.to_thread(_answer, self.session(runtime.state), tool.name, arguments)

        return _structured(tool, call, acall)


def create_skill_tools(session: Session) -> list[StructuredTool]:
    """Return the tools of a conversation for a graph of your own, such as for `ToolNode`.

    They record in the session what the model gets. Save it with `session.save()` where the graph keeps its state.
    """

    def structured(tool: views.Tool) -> StructuredTool:
        def call(**arguments: object) -> tuple[Content, object]:
            return _answer(session, tool.name, arguments)

        async def acall(**arguments: object) -> tuple[Content, object]:
            return await asyncio.to_thread(_answer, session, tool.name, arguments)

        return _structured(tool, call, acall)

    return [structured(tool) for tool in session.tools()]


def _argument(arguments: Mapping[str, Any]) -> str:
    """Return what a tool is given: its command, or its only text."""
    texts = [value for value in arguments.values() if isinstance(value, str)]
    command = arguments.get("command")
    if isinstance(command, str):
        return command
    return texts[0] if len(texts) == 1 else ""


def _structured(tool: views.Tool, call: Callable[..., Any], acall: Callable[..., Any]) -> StructuredTool:
    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.input_schema,
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _answer(session: Session, name: str, arguments: Mapping[str, object]) -> tuple[Content, object]:
    """Return the answer of a tool, and which skill it gives with which arguments."""
    answer = session.call(name, arguments)
    if answer.is_error:
        raise ToolException(answer.text)
    given = {"given_skill": answer.skill, "arguments": arguments.get("arguments") or ""} if answer.skill else None
    pictures = [block for block in answer.content if block.type == "image"]
    if not pictures:
        return answer.text, given
    return [{"type": "image", "base64": picture.base64, "mime_type": picture.media_type} for picture in pictures], given


def _told(session: Session, messages: Sequence[AnyMessage], known: Told) -> Told:
    """Return what the model is told with each message, and record it in the session."""
    keys = _keys(messages)
    present = {*keys, _START}
    told = {key: text for key, text in known.items() if key in present}
    if any(text is not None for key, text in known.items() if key not in present):
        # The host removed texts that the model had. Answers of tools that it kept are still there.
        kept = [given["given_skill"] for message in messages if (given := _given(message)) is not None]
        told = {**dict.fromkeys(told), _START: session.after_compaction(kept=kept).text}
    for key, message in zip(keys, messages, strict=True):
        if key in told:
            continue
        if isinstance(message, HumanMessage) and message.additional_kwargs.get("lc_source") is None:
            told[key] = session.turn([message]).text
        elif (given := _given(message)) is not None:
            told[key] = ""
            # The skill may have been removed since.
            with suppress(SkillfoldError):
                session.load(given["given_skill"], given.get("arguments") or "")
    return told


def _keys(messages: Sequence[AnyMessage]) -> list[str]:
    """Return the id of each message. deepagents keeps messages that are given as pairs without one.

    Those have a digest of their text, and which of the messages with this text they are.
    """
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for message in messages:
        key = message.id
        if key is None:
            digest = hashlib.sha256(message.text.encode("utf-8", "surrogatepass")).hexdigest()
            seen[digest] += 1
            key = f"{digest}-{seen[digest]}"
        keys.append(key)
    return keys


def _given(message: AnyMessage) -> dict[str, str] | None:
    artifact: Any = message.artifact if isinstance(message, ToolMessage) else None
    return cast("dict[str, str]", artifact) if isinstance(artifact, dict) and "given_skill" in artifact else None


def _message(text: str) -> HumanMessage:
    return HumanMessage(text, additional_kwargs={"lc_source": "skillfold"})


def _appended(system: SystemMessage | None, listing: str) -> SystemMessage | None:
    if not listing:
        return system
    if system is None or not system.content:
        return SystemMessage(listing)
    if isinstance(system.content, str):
        return SystemMessage(f"{system.content}\n\n{listing}")
    return SystemMessage([*system.content, {"type": "text", "text": f"\n\n{listing}"}])
