"""extensions/ID/main.py: one tool. Put the id of the extension for ID and a class for Name."""


class Name:
    async def initialize(self, context):
        self.context = context
        self.timeout = context.get_config("timeout_seconds", 10)

    async def start(self):
        pass

    def get_tools(self):
        return [self.ID_do]

    async def ID_do(self, what: str) -> dict:
        """Says in one line what the tool does, for a model."""
        try:
            result = await self._work(what)
        except TimeoutError:
            return {"status": "error", "message": f"No answer within {self.timeout} s; try again later"}
        return {"status": "ok", "message": result}

    async def _work(self, what: str) -> str:
        raise NotImplementedError

    async def stop(self):
        pass

    def destroy(self):
        pass

    def health_check(self) -> bool:
        return True
