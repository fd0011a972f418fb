"""A LangChain chat model that follows a script and keeps what reached it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

Call = tuple[str, dict[str, Any]]


class ScriptedChatModel(BaseChatModel):
    """Answers with the next step of the script, a list of tool calls, or with a text when none is left."""

    answer: str = "ok"
    script: list[list[Call]] = Field(default_factory=list[list[Call]])
    requests: list[list[BaseMessage]] = Field(default_factory=list[list[BaseMessage]])
    tools: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    ids: Any = Field(default_factory=itertools.count)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        **_: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Keeps the tools."""
        self.tools[:] = [convert_to_openai_tool(tool)["function"] for tool in tools]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        self.requests.append(messages)
        calls = [
            {"name": name, "args": arguments, "id": f"call-{next(self.ids)}"}
            for name, arguments in (self.script.pop(0) if self.script else [])
        ]
        message = AIMessage("" if calls else self.answer, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def texts(self, number: int = -1) -> list[str]:
        """Returns the texts of one request, in order."""
        return [message.text for message in self.requests[number]]

    def text(self, number: int = -1) -> str:
        """Returns one request as one text."""
        return "\n".join(self.texts(number))


def user(text: str) -> dict[str, Any]:
    """Returns the input of an agent for one message of the user."""
    return {"messages": [HumanMessage(text)]}
