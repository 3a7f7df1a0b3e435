/** A real metacog for the tests, started once and stopped with them. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, type ClientOptions, type Held } from "@metacog/client";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url)); // of the repository, from build/test
export const PYTHON = process.env["METACOG_TEST_PYTHON"] || `${ROOT}.venv/bin/python`;

interface Ready {
  readonly url: string;
  readonly api_key: string;
  readonly signing_secret: string;
  readonly token: string;
  readonly callback_url: string;
}

export class Metacog {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(
    process: ChildProcess,
    lines: AsyncIterator<string>,
    readonly ready: Ready,
  ) {
    this.#process = process;
    this.#lines = lines;
  }

  static async start(): Promise<Metacog> {
    if (!existsSync(PYTHON)) throw new Error(`There is no ${PYTHON}: run make up once, or set METACOG_TEST_PYTHON.`);
    const process_ = spawn(PYTHON, [`${ROOT}clients/testing/server.py`], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: process_.stdout! })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done) throw new Error("metacog did not start.");
    const server = new Metacog(process_, lines, JSON.parse(first.value) as Ready);
    await server.order("limit 1000 1000");
    return server;
  }

  get url(): string {
    return this.ready.url;
  }

  client(options: ClientOptions = {}): Client {
    return new Client({ url: this.url, apiKey: this.ready.api_key, ...options });
  }

  /** Give the server an order: see the head of server.py. */
  async order(order: string): Promise<unknown> {
    this.#process.stdin!.write(`${order}\n`);
    const told = await this.#lines.next();
    const answer = JSON.parse(String(told.value)) as { ok: boolean; error: string; found: unknown };
    if (!answer.ok) throw new Error(answer.error);
    return answer.found;
  }

  /** What went along with each post of a session as what its tools gave, the oldest first. */
  async given(session: string): Promise<string[]> {
    return (await this.order(`given ${session}`)) as string[];
  }

  /** Let all calls pass while something is done. */
  async allowing(act: () => Promise<unknown>): Promise<void> {
    await this.order('policy {"default_tool_call": "allow"}');
    try {
      await act();
    } finally {
      await this.order('policy {"default_tool_call": "ask"}');
    }
  }

  /** Call the API as a person. */
  async review<Answer>(path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`${this.url}/api/v1/review${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${this.ready.token}`, "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (answer.status === 429) {
      await sleep(200); // a person's token has 20 calls a second
      return this.review(path, body);
    }
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }

  async decide(held: string, verdict: "approve" | "edit" | "reject" | "answer", more: object = {}): Promise<void> {
    const edited = "arguments" in more ? { accept_risk: true } : {}; // whatever keys it leaves out
    await this.review(`/held/${held}/decision`, { verdict, ...edited, ...more });
  }

  /** Try to edit a call into what its tool cannot take; return what the console says of it. */
  async refusal(held: string, given: object): Promise<string> {
    try {
      await this.decide(held, "edit", { arguments: given });
    } catch (error) {
      return String(error);
    }
    throw new Error("The edit was taken.");
  }

  /** All held items of one run, decided or not. */
  async held(run: string): Promise<Held[]> {
    const states = ["pending", "decided"].map((state) =>
      this.review<{ items: Held[] }>(`/queue?state=${state}&metadata.run=${encodeURIComponent(run)}`),
    );
    return (await Promise.all(states)).flatMap((page) => page.items);
  }

  /** Return the run's pending item, once it is there. */
  async pending(run: string): Promise<Held> {
    for (let tries = 0; tries < 600; tries++) {
      const found = (await this.held(run)).find((each) => each.state === "pending");
      if (found) return found;
      await sleep(50);
    }
    throw new Error(`Nothing of ${run} is pending.`);
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.stdin!.end();
    await ended;
  }
}

let started: Promise<Metacog> | undefined;

export const metacog = (): Promise<Metacog> => (started ??= Metacog.start());

export const end = async (): Promise<void> => (started ? (await started).end() : undefined);
