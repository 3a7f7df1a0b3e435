import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpoolFull } from "./errors.js";
import type { SpoolStore } from "./spool.js";

/**
 * Keeps records in a folder, a file each, readable by this user alone; for Node and Deno. Several processes may share
 * it. What metacog will never take is moved to the folder `refused` within it, with the reason.
 */
export class FileStore implements SpoolStore {
  readonly folder: string;
  readonly #mostRecords: number;
  readonly #mostBytes: number;
  #added = 0;

  constructor(folder: string, options: { readonly mostRecords?: number; readonly mostBytes?: number } = {}) {
    this.folder = folder;
    this.#mostRecords = options.mostRecords ?? 10_000;
    this.#mostBytes = options.mostBytes ?? 64 * 1_048_576;
  }

  async add(body: string): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const data = new TextEncoder().encode(body);
    const names = await this.#names();
    let size = data.length;
    for (const name of names) size += (await stat(join(this.folder, name)).catch(() => null))?.size ?? 0;
    if (names.length >= this.#mostRecords || size > this.#mostBytes) {
      throw new SpoolFull(`${this.folder} holds ${names.length} records; nothing more fits.`);
    }
    const place = [Date.now(), this.#added++].map((each) => String(each).padStart(15, "0")).join("-");
    const path = join(this.folder, `${place}-${randomUUID()}`);
    const file = await open(`${path}.new`, "wx", 0o600);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, `${path}.json`);
    await this.#sync();
  }

  async oldest(limit: number): Promise<readonly (readonly [string, string])[]> {
    const names = (await this.#names()).slice(0, limit);
    const read = names.map(async (name) => [name, await readFile(join(this.folder, name), "utf8").catch(gone)] as const);
    return (await Promise.all(read)).filter((each): each is readonly [string, string] => each[1] !== null);
  }

  async drop(key: string): Promise<void> {
    await rm(join(this.folder, key), { force: true });
  }

  async refuse(key: string, why: string): Promise<void> {
    const [from, aside] = [join(this.folder, key), join(this.folder, "refused")];
    const body = await readFile(from, "utf8").catch(gone);
    if (body === null) return; // another process was faster
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await writeFile(join(aside, key), JSON.stringify({ why, body: JSON.parse(body) as unknown }), { mode: 0o600 });
    await this.drop(key);
  }

  async count(): Promise<number> {
    return (await this.#names()).length;
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.folder).catch(gone);
    return (names ?? []).filter((name) => name.endsWith(".json")).sort();
  }

  /** Make the new name last, where the system can. */
  async #sync(): Promise<void> {
    const folder = await open(this.folder, "r").catch(() => null);
    await folder?.sync().catch(() => undefined);
    await folder?.close();
  }
}

function gone(error: NodeJS.ErrnoException): null {
  if (error.code !== "ENOENT") throw error;
  return null;
}
