"""The scripted model of the examples for LangChain and deepagents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from scripted import next_call, show

if TYPE_CHECKING:
    from langchain_core.language_models.base import LanguageModelInput
    from langchain_core.runnables import Runnable


class ScriptedChatModel(BaseChatModel):
    """Prints what it gets, and follows the script."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[LanguageModelInput, AIMessage]:  # noqa: ANN401, ARG002
        """Take any tools."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: Any = None,  # noqa: ANN401, ARG002
        **_: Any,  # noqa: ANN401
    ) -> ChatResult:
        show((message.type, message.text or str(getattr(message, "tool_calls", ""))) for message in messages)
        call = next_call(messages[-1].text)
        calls = [{"name": call[0], "args": call[1], "id": "1"}] if call else []
        message = AIMessage("" if call else "ok", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])
