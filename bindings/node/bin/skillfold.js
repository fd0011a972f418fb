#!/usr/bin/env node
// Starts the command of the platform's package in the place of this process, or waits for it where that cannot be done.
"use strict";

const { spawn } = require("node:child_process");
const { accessSync, constants } = require("node:fs");
const { commandPath } = require("../dist/platform.js");

let command;
try {
  command = commandPath();
  // What `execve` cannot start ends this process without a word.
  accessSync(command, constants.X_OK);
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(1);
}
const given = process.argv.slice(2);
if (process.platform !== "win32" && process.execve !== undefined) {
  process.execve(command, [command, ...given], process.env);
}
const child = spawn(command, given, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // A terminal sends SIGINT to both.
  process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: ${command} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
