/**
 * For the Claude Agent SDK: hooks in the process that ask metacog before a tool is used.
 *
 *     const gate = new AgentGate(new Client());
 *     for await (const message of query({ prompt, options: { hooks: gate.hooks } })) …
 *
 * They ask about every tool, before Claude Code's own permissions do; `canUseTool: gate.canUseTool` only where those would
 * ask a person.
 */
import type { CanUseTool, HookCallback, HookCallbackMatcher, HookEvent, HookJSONOutput } from "@anthropic-ai/claude-agent-sdk";
import type { AskOptions, Client } from "./client.js";
import type { Outcome } from "./gating.js";
import { callOf, isObject, NO_OBJECT, type Schema } from "./objects.js";

const SPARE_SECONDS = 60; // to post and to hear of the decision, beyond the time that it is waited for
const LONGEST_SECONDS = 30 * 86_400; // that a hook of a client without a deadline may take

export interface AgentGateOptions extends Omit<AskOptions, "signal"> {
  /** What becomes of calls that metacog does not hold: `nothing`, which leaves them to Claude Code's own permissions, unless given. */
  readonly passed?: "nothing" | "allow" | undefined;
  /** The JSON Schemas of tools whose arguments a reviewer may edit, by name, such as `mcp__till__refund`: nobody tells a hook. */
  readonly schemas?: Readonly<Record<string, Schema>> | undefined;
}

export class AgentGate {
  readonly #client: Client;
  readonly #options: AskOptions;
  readonly #passed: "nothing" | "allow";
  readonly #schemas: Readonly<Record<string, Schema>>;
  /** By call, until it has run: what let it. */
  readonly #approved = new Map<string, Outcome>();

  constructor(client: Client, { passed = "nothing", schemas = {}, ...options }: AgentGateOptions = {}) {
    this.#client = client;
    this.#schemas = schemas;
    this.#options = options;
    this.#passed = passed;
  }

  /** For `query`'s options; a hook that fails or is late blocks the tool. The session is Claude Code's, unless one is given. */
  get hooks(): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
    const timeout = Math.min(LONGEST_SECONDS, (this.#options.deadline ?? this.#client.deadline) + SPARE_SECONDS);
    const after = [{ hooks: [this.#after] }];
    return {
      PreToolUse: [{ hooks: [this.#before], timeout, onFailure: "block" }],
      PostToolUse: after,
      PostToolUseFailure: after,
    };
  }

  /** For `query`'s options: decides where Claude Code would ask a person. What became of the call is not reported. */
  readonly canUseTool: CanUseTool = async (name, input, { toolUseID, signal }) => {
    const told = await this.#client.gate(callOf(name, input, toolUseID, this.#schemas[name]), { ...this.#options, signal });
    if (!told.allowed) return { behavior: "deny", message: told.message };
    if (!isObject(told.arguments)) return { behavior: "deny", message: NO_OBJECT };
    return { behavior: "allow", updatedInput: told.arguments };
  };

  readonly #before: HookCallback = async (input, _id, { signal }) => {
    if (input.hook_event_name !== "PreToolUse") throw new Error(`a hook before a tool was told of ${input.hook_event_name}`);
    const call = callOf(input.tool_name, input.tool_input, input.tool_use_id, this.#schemas[input.tool_name]);
    const told = await this.#client.gate(call, { session: input.session_id, ...this.#options, signal });
    const answer = answerOf(told, this.#passed);
    if (told.allowed) this.#approved.set(input.tool_use_id, told);
    return answer;
  };

  readonly #after: HookCallback = async (input) => {
    if (input.hook_event_name !== "PostToolUse" && input.hook_event_name !== "PostToolUseFailure") return {};
    const told = this.#approved.get(input.tool_use_id);
    if (told === undefined) return {};
    this.#approved.delete(input.tool_use_id);
    if (input.hook_event_name === "PostToolUseFailure") this.#client.reportSoon(told, "failed", { detail: input.error });
    else this.#client.reportSoon(told, "done", { result: input.tool_response });
    return {};
  };
}

function answerOf(told: Outcome, passed: "nothing" | "allow"): HookJSONOutput {
  const said = (permissionDecision: "allow" | "deny", permissionDecisionReason: string, more: object = {}): HookJSONOutput => ({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason, ...more },
  });
  if (!told.allowed) return said("deny", told.message);
  if (told.held === null) return passed === "allow" ? said("allow", told.message) : {};
  if (told.verdict !== "edit") return said("allow", told.message);
  if (!isObject(told.arguments)) return said("deny", NO_OBJECT);
  return said("allow", told.message, { updatedInput: told.arguments, additionalContext: told.message });
}
