import { Refused, Unreachable } from "./errors.js";
import { Transport, Until } from "./transport.js";

const AT_ONCE = 100; // records read at a time
const SEND_SECONDS = 10; // of one attempt at sending
const FIRST_PAUSE_SECONDS = 1; // between two of them
const LONGEST_PAUSE_SECONDS = 60;
// The record itself is at fault; any other refusal is about the key, and every record would meet it.
const FAULTY = new Set([400, 413, 415, 422]);

/** Where records are kept until metacog has them. Each is a JSON text, with the id under which it is sent. */
export interface SpoolStore {
  /** Keep a record; resolve once it would outlive this process. Reject with `SpoolFull` when there is no room. */
  add(body: string): Promise<void>;
  /** The oldest records, each with the store's own key. */
  oldest(limit: number): Promise<readonly (readonly [key: string, body: string])[]>;
  /** Delete a record that metacog has. */
  drop(key: string): Promise<void>;
  /** Set a record aside that metacog will never take. */
  refuse(key: string, why: string): Promise<void>;
  count(): Promise<number>;
}

/** Sends what is kept: soon after it was added, and again after growing pauses while that fails. */
export class Spool {
  readonly #store: SpoolStore;
  readonly #transport: Transport;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_SECONDS;
  #sending: Promise<unknown> | null = null;
  #woken = false;
  #over = false;

  constructor(store: SpoolStore, transport: Transport) {
    this.#store = store;
    this.#transport = transport;
    this.#wake(); // an earlier process may have left some
  }

  async keep(body: string): Promise<void> {
    await this.#store.add(body);
    this.#wake();
  }

  /** Send what is kept, oldest first, and return how many are left; those stay for the next time. */
  async send(until: Until): Promise<number> {
    for (;;) {
      const records = await this.#store.oldest(AT_ONCE);
      if (records.length === 0) return 0;
      for (const [key, body] of records) {
        if (until.left <= 0) return this.#store.count();
        try {
          await this.#transport.text({ method: "POST", path: "/responses", body, until });
        } catch (error) {
          if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
          if (!(error instanceof Refused && FAULTY.has(error.status))) return this.#store.count();
          await this.#store.refuse(key, error.message);
          continue;
        }
        await this.#store.drop(key);
      }
    }
  }

  close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #wake(): void {
    this.#woken = true;
    if (this.#over || this.#sending) return;
    clearTimeout(this.#timer);
    this.#woken = false;
    this.#sending = this.send(Until.after(SEND_SECONDS))
      .catch(() => 1) // the store fails: `flush` says how
      .then((left) => {
        this.#sending = null;
        if (this.#woken) return this.#wake();
        if (left === 0) this.#pause = FIRST_PAUSE_SECONDS;
        else this.#later();
      });
  }

  #later(): void {
    if (this.#over) return;
    this.#timer = setTimeout(() => this.#wake(), this.#pause * 1000);
    this.#pause = Math.min(LONGEST_PAUSE_SECONDS, 2 * this.#pause);
    // In Node: the program need not go on for this. What is left is sent by the next one.
    (this.#timer as { unref?: () => void }).unref?.();
  }
}
