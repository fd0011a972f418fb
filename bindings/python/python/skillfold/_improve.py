"""Proposals of agents, and the people or programs that decide about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from skillfold import _skillfold, views

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillfold._arguments import Call


class Proposing:
    """What `Skills` knows of proposals and versions. Nothing here decides."""

    __slots__ = ()

    def _call(self, call: Call) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def _start(self, call: Call, input: bytes, cancel: _skillfold.Cancel) -> Any:  # noqa: A002, ANN401
        raise NotImplementedError

    def _proposals(self, call: Call) -> Any:  # noqa: ANN401
        return self._call({"proposals": call})

    def propose_update(  # noqa: PLR0913
        self,
        skill_id: str,
        diff: str,
        justification: str,
        evidence: str | None = None,
        *,
        author: str = "python",
        session: str | None = None,
    ) -> views.Proposal:
        """Propose a change to a skill as a unified diff. The skill stays as it is until someone approves it.

        `author` is the agent that proposes it, and `session` its conversation.
        """
        new = _new(skill_id, justification, evidence, author, session)
        return views.Proposal(self._proposals({"update": {"new": new, "diff": diff}}))

    def propose_new(  # noqa: PLR0913
        self,
        skill_id: str,
        content: str,
        justification: str,
        evidence: str | None = None,
        *,
        author: str = "python",
        session: str | None = None,
    ) -> views.Proposal:
        """Propose a new skill of the user: its `SKILL.md`. No model sees it until someone approves it."""
        new = _new(skill_id, justification, evidence, author, session)
        return views.Proposal(self._proposals({"new": {"new": new, "content": content}}))

    def proposals(self) -> views.ProposalList:
        """Return the proposals that wait for a decision, oldest first."""
        return views.ProposalList(self._proposals("list"))

    def proposal(self, name: str) -> views.Proposal:
        """Return one of them with its diff and what it does to tokens, findings, permissions and requests."""
        return views.Proposal(self._proposals({"show": {"name": name}}))

    def history(self, skill_id: str) -> views.History:
        """Return the versions of a skill, oldest first: when each came, how, by whom and why."""
        return views.History(self._proposals({"history": {"id": skill_id}}))

    def reviewer(self, name: str, passphrase: str | None = None) -> Reviewer:
        """Return the right to decide in the name of a person or of a reviewer agent.

        Your program answers for the decision, which is recorded as `host`, or as `passphrase` if you pass one. Never
        hand this object to code that an agent controls.
        """
        return Reviewer(self._proposals, self._start, name, passphrase)


class Reviewer:
    """The right to decide about proposals. `Skills.reviewer` returns one."""

    __slots__ = ("_passphrase", "_proposals", "_start", "name")

    def __init__(
        self,
        proposals: Callable[[Call], Any],
        start: Callable[[Call, bytes, _skillfold.Cancel], Any],
        name: str,
        passphrase: str | None,
    ) -> None:
        """Use `Skills.reviewer`."""
        self._proposals = proposals
        self._start = start
        self.name = name
        self._passphrase = passphrase

    @property
    def _decision(self) -> dict[str, str | None]:
        return {"by": self.name, "passphrase": self._passphrase}

    def approve(self, proposal: views.Proposal) -> str:
        """Make the change, and return the digest of the skill's new version.

        It is refused if the proposal, or the skill, is no longer what `proposal` says; `merge` helps then.
        """
        decided = {"digest": proposal.digest, "base": proposal.base, "decision": self._decision}
        return str(self._proposals({"approve": decided}))

    def merge(self, proposal: views.Proposal) -> views.Proposal:
        """Merge the proposal with what the skill has become since, and return the result: a new proposal to look at.

        If the skill has not changed, it is the same proposal. Changes of the same lines are refused.
        """
        return views.Proposal(self._proposals({"merge": {"name": proposal.name}}))

    def recommend(self, proposal: views.Proposal, verdict: Literal["approve", "reject"], reason: str) -> None:
        """Record what a reviewer thinks who may not decide, such as another agent. Whoever decides sees it."""
        said = {"digest": proposal.digest, "by": self.name, "verdict": verdict, "reason": reason}
        self._proposals({"recommend": said})

    def reject(self, proposal: views.Proposal, reason: str) -> None:
        """Put the proposal away. It stays in the log with the reason."""
        self._proposals({"reject": {"digest": proposal.digest, "by": self.name, "reason": reason}})

    def roll_back(self, skill_id: str, version: str, reason: str) -> None:
        """Give a skill the content of an earlier version, by its digest from `Skills.history`."""
        back = {"id": skill_id, "version": version, "reason": reason, "decision": self._decision}
        self._proposals({"roll_back": back})

    def allow(
        self,
        scripts: views.ScriptList,
        *,
        install_packages: bool = False,
        project: Literal["read", "write", "none"] | None = None,
    ) -> None:
        """Let a skill run its scripts and tools with everything that it asks for, while it is what `scripts` says.

        Its toolsets are started in the sandbox to learn their tools. `scripts` is what `Skills.scripts` returned.
        With `install_packages`, the packages that its scripts name are installed in the sandbox, by `uv` and `npm`.
        `project` says what it may do with the working folder, whatever it asks for.
        """
        allowed = {
            "id": scripts.skill_id,
            "digest": scripts.digest,
            "decision": self._decision,
            "install_packages": install_packages,
            "project": project,
        }
        self._start({"allow": allowed}, b"", _skillfold.Cancel())

    def __repr__(self) -> str:
        return f"<Reviewer {self.name}>"


def _new(
    skill_id: str, justification: str, evidence: str | None, author: str, session: str | None
) -> dict[str, str | None]:
    return {
        "id": skill_id,
        "justification": justification,
        "evidence": evidence,
        "author": author,
        "session": session,
    }
