// One process, so that one server serves all: node's runner gives each file a process of its own.
import { after } from "node:test";
import { end } from "./metacog.js";

after(end);
await import("./offline.js");
await import("./gate.js");
await import("./ai.js");
await import("./claude-agent-sdk.js");
await import("./mastra.js");
await import("./example.js");
await import("./runtimes.js");
await import("./schema.js");
