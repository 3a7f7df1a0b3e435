/** Calls whose arguments have names, and the schemas of their tools, as far as a framework tells them. */
import type { ToolCall } from "./gating.js";

export const NO_OBJECT = "Not done: the arguments that a reviewer put in their place are no object.";

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** What Claude Code's own tools cannot do without; it tells no hook of it. The Python client's hooks have the same. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  Agent: ["description", "prompt"],
  Bash: ["command"],
  Edit: ["file_path", "old_string", "new_string"],
  Glob: ["pattern"],
  Grep: ["pattern"],
  NotebookEdit: ["notebook_path", "new_source"],
  Read: ["file_path"],
  Skill: ["skill"],
  Task: ["description", "prompt"],
  TodoWrite: ["todos"],
  WebFetch: ["url", "prompt"],
  WebSearch: ["query"],
  Write: ["file_path", "content"],
};

/** Give the call with what a reviewer's edit must meet: its tool's schema, or where nobody tells it the types that its arguments have. */
export function callOf(name: string, input: unknown, callId: string, schema?: Schema): ToolCall {
  return { name, arguments: input, callId, schema: schema ?? schemaLike(name, input) };
}

function schemaLike(name: string, input: unknown): Schema {
  const given = isObject(input) ? Object.entries(input).filter(([, value]) => value !== null && value !== undefined) : [];
  const properties = Object.fromEntries(given.map(([key, value]) => [key, { type: typeOf(value) }]));
  const required = (REQUIRED[name] ?? []).filter((each) => each in properties);
  return { type: "object", properties, ...(required.length ? { required } : {}) };
}

/** Find the JSON Schema in what describes a tool's arguments: itself, what the AI SDK wraps, or what a Standard Schema gives. */
export function schemaIn(given: unknown): Schema | undefined {
  if (!isObject(given)) return undefined;
  const standard = given["~standard"];
  const { jsonSchema } = isObject(standard) ? standard : given;
  try {
    const makes = isObject(jsonSchema) ? jsonSchema["input"] : undefined;
    const found: unknown = typeof makes === "function" ? makes({ target: "draft-07" }) : jsonSchema;
    if (isObject(found)) return found;
  } catch {
    return undefined; // JSON Schema has no words for it
  }
  return given["type"] === "object" && !standard ? given : undefined;
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Put the arguments as they were decided in the place of those of the model, within the object that the framework keeps. */
export function replace(own: Record<string, unknown>, decided: Record<string, unknown>): void {
  const given = { ...decided }; // it may be the same object
  for (const name of Object.keys(own)) delete own[name];
  Object.assign(own, given);
}
