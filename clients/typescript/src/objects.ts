/** Calls whose arguments have names, and whose framework tells nobody the tool's schema. */
import type { ToolCall } from "./gating.js";

export const NO_OBJECT = "Not done: the arguments that a reviewer put in their place are no object.";

/** Give the call with the types of its arguments, which a reviewer's edit must keep. */
export function callOf(name: string, input: unknown, callId: string): ToolCall {
  const given = isObject(input) ? Object.entries(input).filter(([, value]) => value !== null && value !== undefined) : [];
  const properties = Object.fromEntries(given.map(([key, value]) => [key, { type: typeOf(value) }]));
  return { name, arguments: input, callId, schema: { type: "object", properties } };
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
