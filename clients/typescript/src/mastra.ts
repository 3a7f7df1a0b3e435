/**
 * For Mastra: hooks by which an agent asks metacog before each of its tools.
 *
 *     const gate = new MastraGate(new Client({ run: "order-4711" }));
 *     const agent = new Agent({ id, name, instructions, model, tools, hooks: gate.hooks, inputProcessors: [gate] });
 *
 * Mastra's hooks cannot change what a tool gave, and are not told its schema; as a processor of input the gate tells the
 * model of an edit, and learns the schemas that an edit must meet. Hooks that are given to a single run (`generate`,
 * `stream`) come in the place of an agent's: gate those, too.
 */
import type { AskOptions, Client } from "./client.js";
import type { Outcome } from "./gating.js";
import { callOf, isObject, NO_OBJECT, replace, schemaIn, type Schema } from "./objects.js";
import { wordsOf } from "./reporting.js";

interface Called {
  readonly toolName: string;
  readonly input: unknown;
  readonly context: unknown;
}

type SystemMessage = { role: "system"; content: string };

export class MastraGate {
  readonly id = "metacog";
  readonly #client: Client;
  readonly #options: Omit<AskOptions, "signal">;
  readonly #schemas = new Map<string, Schema | undefined>();
  /** By the context of each call, until it has run: what let it. */
  readonly #approved = new WeakMap<object, Outcome>();
  /** By call: what the model is told of an edit, since its own call still has the arguments that it wanted. */
  readonly #edited = new Map<string, string>();

  constructor(client: Client, options: Omit<AskOptions, "signal"> = {}) {
    this.#client = client;
    this.#options = options;
  }

  get hooks() {
    return {
      beforeToolCall: (called: Called) => this.#before(called),
      afterToolCall: async (called: Called & { output?: unknown; error?: unknown }) => this.#after(called),
    };
  }

  /** Learn of the tools, and add a system message for each edited call that the model is about to read the result of. */
  processInputStep<Message extends { role: string }>(step: { messages: unknown; systemMessages: Message[]; tools?: unknown }) {
    const { messages, systemMessages, tools } = step;
    for (const [name, tool] of Object.entries(isObject(tools) ? tools : {})) {
      if (isObject(tool)) this.#schemas.set(name, schemaIn(tool["inputSchema"] ?? tool["parameters"]));
    }
    const read = JSON.stringify(messages);
    const said = JSON.stringify(systemMessages);
    const notes: SystemMessage[] = [...this.#edited]
      .filter(([id]) => read.includes(JSON.stringify(id)) && !said.includes(`tool call ${id}:`))
      .map(([id, message]) => ({ role: "system", content: `Of your tool call ${id}: ${message}` }));
    return notes.length ? { systemMessages: [...systemMessages, ...notes] } : {};
  }

  async #before({ toolName, input, context }: Called): Promise<void | { proceed: false; output: unknown }> {
    const { toolCallId, abortSignal } = isObject(context) ? context : {};
    const call = callOf(toolName, input, String(toolCallId), this.#schemas.get(toolName));
    const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined;
    const told = await this.#client.gate(call, { ...this.#options, signal });
    if (!told.allowed) return { proceed: false, output: { error: told.message } };
    if (!isObject(told.arguments) || !isObject(input) || !isObject(context)) {
      this.#client.reportSoon(told, "skipped", { detail: NO_OBJECT });
      return { proceed: false, output: { error: NO_OBJECT } };
    }
    replace(input, told.arguments);
    this.#approved.set(context, told);
    if (told.verdict === "edit") this.#edited.set(call.callId!, told.message);
  }

  #after({ context, output, error }: Called & { output?: unknown; error?: unknown }): void {
    const told = isObject(context) ? this.#approved.get(context) : undefined;
    if (told === undefined) return;
    const fault = error ?? (isObject(output) && output["error"] === true ? output["message"] : undefined); // of a tool that validates
    if (fault === undefined) this.#client.reportSoon(told, "done", { result: output });
    else this.#client.reportSoon(told, "failed", { detail: fault instanceof Error ? wordsOf(fault) : String(fault) });
  }
}
