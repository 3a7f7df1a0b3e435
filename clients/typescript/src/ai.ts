/**
 * For the Vercel AI SDK: tools whose `execute` asks metacog first.
 *
 *     const gate = new ToolGate(new Client(), { session: "order-4711" });
 *     await generateText({ model, tools: gate.wrap({ refund }), … });      // execute waits for the decision
 *     await generateText({ model, tools: gate.wrap({ refund }, "approval"), … });   // or the SDK ends with an approval request
 */
import { asSchema, type JSONValue, type ModelMessage, type Tool, type ToolApprovalResponse, type ToolSet } from "ai";
import type { AskOptions, Client } from "./client.js";
import type { Outcome, ToolCall } from "./gating.js";
import { asJson } from "./json.js";
import { wordsOf } from "./reporting.js";

/** The SDK hands its message to the model as the call's error. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.message);
    this.outcome = outcome;
  }
}

export interface ToolGateOptions extends Omit<AskOptions, "signal"> {
  /** Hears what became of each call, before it is made or refused. */
  readonly onOutcome?: ((outcome: Outcome, call: ToolCall) => void) | undefined;
}

/** How a held call waits: inside its `execute`, or as an approval request with which the SDK ends. */
export type Waiting = "execute" | "approval";

type Execute = NonNullable<Tool["execute"]>;
type ModelOutput = NonNullable<Tool["toModelOutput"]>;
type ModelOutputOptions = Parameters<ModelOutput>[0];
type Output = Awaited<ReturnType<ModelOutput>>;

export class ToolGate {
  readonly #client: Client;
  readonly #options: ToolGateOptions;
  /** Of calls that are made with other arguments than the model gave, what it is told. */
  readonly #edited = new Map<string, string>();

  constructor(client: Client, options: ToolGateOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Return the tools with the gate before each `execute`; those without one are not run here, and stay as they are.
   *
   * With `approval` a held call does not wait: the SDK asks for its approval, and the program may end. Whatever is
   * answered to that, `execute` asks metacog again, and runs only what was released.
   */
  wrap<TOOLS extends ToolSet>(tools: TOOLS, waiting: Waiting = "execute"): TOOLS {
    const wrapped = Object.entries(tools).map(([name, tool]) => [name, this.#wrapped(name, tool as Tool, waiting)]);
    return Object.fromEntries(wrapped) as TOOLS;
  }

  /**
   * Wait for the decisions about the approvals that these messages ask for, and return the answers, for a message
   * `{ role: "tool", content: answers }`. What is not decided within `deadline` seconds is left out: ask again later.
   */
  async answers(
    messages: readonly ModelMessage[],
    tools: ToolSet,
    options: Pick<AskOptions, "deadline" | "signal"> = {},
  ): Promise<ToolApprovalResponse[]> {
    const parts = messages.flatMap((each) => (typeof each.content === "string" ? [] : [...each.content]));
    const answered = new Set(parts.flatMap((each) => (each.type === "tool-approval-response" ? [each.approvalId] : [])));
    const found: (ToolApprovalResponse | null)[] = await Promise.all(
      parts.map(async (part) => {
        if (part.type !== "tool-approval-request" || answered.has(part.approvalId)) return null;
        const call = parts.find((each) => each.type === "tool-call" && each.toolCallId === part.toolCallId);
        if (call?.type !== "tool-call") return null;
        const asked = await this.#call(call.toolName, tools[call.toolName] as Tool | undefined, call.input, call.toolCallId);
        const told = await this.#client.gate(asked, { ...this.#options, ...options });
        if (told.verdict === "pending" || told.verdict === "unreachable") return null;
        const reason = told.allowed ? told.reason : told.message;
        return { type: "tool-approval-response", approvalId: part.approvalId, approved: told.allowed, reason };
      }),
    );
    return found.filter((each) => each !== null);
  }

  #wrapped(name: string, tool: Tool, waiting: Waiting): Tool {
    const execute = tool.execute;
    if (execute === undefined) return tool;
    const gated: Tool = {
      ...tool,
      execute: streams(execute) ? this.#streaming(name, tool, execute) : this.#plain(name, tool, execute),
      toModelOutput: (options: ModelOutputOptions) => this.#told(tool, options),
    };
    if (waiting === "approval") {
      gated.needsApproval = async (input: unknown, options: { toolCallId: string }) => {
        const own = tool.needsApproval;
        if (typeof own === "function" ? await own(input, options as Parameters<typeof own>[1]) : own) return true;
        const asked = await this.#call(name, tool, input, options.toolCallId);
        return (await this.#client.ask(asked, this.#options)).verdict === "pending";
      };
    }
    return gated;
  }

  #plain(name: string, tool: Tool, execute: Execute): Execute {
    return async (input: unknown, options) => {
      const { told, given } = await this.#released(name, tool, input, options);
      return this.#client.reporting(told, async () => {
        const result: unknown = await execute(given, options);
        if (!isAsyncIterable(result)) return result;
        let last: unknown; // a plain function that returned a stream: the SDK takes a promise's value as it is
        for await (const each of result) last = each;
        return last;
      });
    };
  }

  #streaming(name: string, tool: Tool, execute: Execute): Execute {
    const [client, released] = [this.#client, this.#released.bind(this)];
    return async function* (input: unknown, options) {
      const { told, given } = await released(name, tool, input, options);
      let last: unknown;
      let failure: string | null = "It was stopped before its end.";
      try {
        for await (last of execute(given, options) as AsyncIterable<unknown>) yield last;
        failure = null;
      } catch (error) {
        failure = wordsOf(error);
        throw error;
      } finally {
        client.reportSoon(told, failure === null ? "done" : "failed", { detail: failure ?? "", result: last });
      }
    };
  }

  /** Ask, and return the arguments that may be used, and what said so; throw `NotAllowed`. */
  async #released(
    name: string,
    tool: Tool,
    input: unknown,
    { toolCallId, abortSignal: signal }: { toolCallId: string; abortSignal?: AbortSignal },
  ): Promise<{ told: Outcome; given: unknown }> {
    const asked = await this.#call(name, tool, input, toolCallId);
    const told = await this.#client.gate(asked, { ...this.#options, signal });
    this.#options.onOutcome?.(told, asked);
    if (!told.allowed) throw new NotAllowed(told);
    // As the tool's schema made it, a date for instance, unless somebody changed it.
    if (asJson(told.arguments) === asJson(input)) return { told, given: input };
    const checked = await asSchema(tool.inputSchema).validate?.(told.arguments);
    if (checked?.success === false) {
      const fault = `The edited arguments are not what ${name} takes: ${checked.error.message}`;
      this.#client.reportSoon(told, "skipped", { detail: fault });
      throw new Error(fault);
    }
    this.#edited.set(toolCallId, told.message);
    return { told, given: checked?.success ? checked.value : told.arguments };
  }

  async #call(name: string, tool: Tool | undefined, input: unknown, callId: string): Promise<ToolCall> {
    const schema = tool && ((await asSchema(tool.inputSchema).jsonSchema) as Record<string, unknown>);
    const description = typeof tool?.description === "string" ? tool.description : undefined;
    return { name, arguments: input, callId, schema, description };
  }

  /** Give the model the tool's result, after a sentence that says that somebody changed its arguments. */
  async #told(tool: Tool, options: ModelOutputOptions): Promise<Output> {
    const output: unknown = options.output;
    const plain = (): Output =>
      typeof output === "string"
        ? { type: "text", value: output }
        : { type: "json", value: JSON.parse(JSON.stringify(output ?? null) ?? "null") as JSONValue };
    const made = tool.toModelOutput ? await tool.toModelOutput(options) : plain();
    const sentence = this.#edited.get(options.toolCallId);
    if (sentence === undefined) return made;
    switch (made.type) {
      case "text":
        return { ...made, value: `${sentence}\n${made.value}` };
      case "json":
        return { type: "text", value: `${sentence}\n${JSON.stringify(made.value)}` };
      case "content":
        return { ...made, value: [{ type: "text", text: sentence }, ...made.value] };
      default:
        return made;
    }
  }
}

function streams(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
