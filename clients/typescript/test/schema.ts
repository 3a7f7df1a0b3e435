import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { metacog } from "./metacog.js";

suite("types", () => {
  test("they are those of the server's OpenAPI document", async () => {
    const { url } = await metacog();
    const made = execFileSync(process.execPath, ["scripts/types.mjs", url, "--print"], { encoding: "utf8" });
    assert.equal(readFileSync("src/schema.ts", "utf8"), made, `npm run types -- URL writes them anew`);
  });
});
