/**
 * For OpenCode: a plugin that asks metacog before each tool. In .opencode/plugin/metacog.js:
 *
 *     import { openCode } from "@metacog/client/opencode";
 *     export const Metacog = openCode();
 *
 * OpenCode runs on without a plugin that it could not load. So its settings say `"permission": {"*": "deny"}`, which
 * refuses every tool, and the plugin takes that back: what else they permit, refuse or ask about stays.
 */
import { Client, type AskOptions } from "./client.js";
import type { Outcome } from "./gating.js";
import { callOf, isObject, NO_OBJECT, replace, schemaIn, type Schema } from "./objects.js";

export interface OpenCodeOptions extends Omit<AskOptions, "signal"> {
  /** One with METACOG_URL and METACOG_API_KEY, unless given. */
  readonly client?: Client | undefined;
}

interface Called {
  readonly tool: string;
  readonly sessionID: string;
  readonly callID: string;
}

/** What a tool of OpenCode's own gives; one of an MCP server gives `content`. */
interface Result {
  output?: unknown;
  content?: unknown;
  isError?: unknown;
  metadata?: unknown;
}

/** OpenCode's own client, as far as a plugin needs it: its tools, but for those of MCP servers, with their schemas. */
interface OpenCodeClient {
  readonly tool: { list(asked: { query: { provider: string; model: string } }): Promise<{ data?: readonly { id: string; parameters: unknown }[] | undefined }> };
}

export interface OpenCodeHooks {
  config(config: { permission?: unknown }): Promise<void>;
  event(told: { event: { type: string; properties?: unknown } }): Promise<void>;
  "chat.params"(about: { model: { id: string; providerID: string } }): Promise<void>;
  "tool.execute.before"(called: Called, output: { args: unknown }): Promise<void>;
  "tool.execute.after"(called: Called, result: Result): Promise<void>;
}

/** Return the plugin; a session of OpenCode is a run and a session here. */
export function openCode({ client, ...options }: OpenCodeOptions = {}): (own?: { client?: OpenCodeClient }) => Promise<OpenCodeHooks> {
  const approved = new Map<string, Outcome>(); // by session and call, until it has run
  const take = (session: string, call: string): Outcome | undefined => {
    const key = `${session} ${call}`;
    const told = approved.get(key);
    approved.delete(key);
    return told;
  };
  return async (own) => {
    let model: { provider: string; model: string } | undefined;
    let schemas: Promise<ReadonlyMap<string, Schema | undefined>> | undefined;
    const schemaOf = async (tool: string): Promise<Schema | undefined> => {
      if (model && own?.client) schemas ??= listed(own.client, model);
      return (await schemas)?.get(tool);
    };
    return {
      async config(config) {
        if (!isObject(config.permission) || config.permission["*"] !== "deny") return;
        const { "*": _, ...rest } = config.permission;
        config.permission = rest;
      },

      async "chat.params"({ model: { id, providerID } }) {
        model = { provider: providerID, model: id };
      },

      async "tool.execute.before"({ tool, sessionID, callID }, output) {
        client ??= new Client(); // not before: OpenCode would run on without a plugin that throws
        const told = await client.forRun(sessionID).gate(callOf(tool, output.args, callID, await schemaOf(tool)), options);
        if (!told.allowed) throw new Error(told.message);
        if (!isObject(told.arguments) || !isObject(output.args)) {
          client.reportSoon(told, "skipped", { detail: NO_OBJECT });
          throw new Error(NO_OBJECT);
        }
        replace(output.args, told.arguments);
        approved.set(`${sessionID} ${callID}`, told);
      },

      async "tool.execute.after"({ sessionID, callID }, result) {
        const told = take(sessionID, callID);
        if (told === undefined) return;
        const { exit } = isObject(result.metadata) ? result.metadata : {};
        const failure = result.isError === true ? "The tool says so." : typeof exit === "number" && exit !== 0 ? `Exit status ${exit}.` : "";
        client?.reportSoon(told, failure ? "failed" : "done", { detail: failure, result: result.output ?? result.content });
        if (told.verdict === "edit") note(result, told.message);
        await client?.reported(); // `opencode run` waits for nothing at its end
      },

      async event({ event }) {
        const part = isObject(event.properties) ? event.properties["part"] : undefined;
        if (event.type !== "message.part.updated" || !isObject(part) || !isObject(part["state"])) return;
        if (part["state"]["status"] !== "error") return; // of a tool that threw, nothing comes after
        const told = take(String(part["sessionID"]), String(part["callID"]));
        if (told !== undefined) client?.reportSoon(told, "failed", { detail: String(part["state"]["error"]) });
      },
    };
  };
}

/** Ask OpenCode how its tools are described; it may know of none. */
async function listed(client: OpenCodeClient, query: { provider: string; model: string }): Promise<Map<string, Schema | undefined>> {
  try {
    const { data = [] } = await client.tool.list({ query });
    return new Map(data.map(({ id, parameters }) => [id, schemaIn(parameters)]));
  } catch {
    return new Map(); // an edit must then keep the types of the arguments that there are
  }
}

/** Tell the model of an edit, since its own call still has the arguments that it wanted. */
function note(result: Result, text: string): void {
  if (Array.isArray(result.content)) result.content.unshift({ type: "text", text });
  else result.output = `${text}\n\n${String(result.output ?? "")}`;
}
