import { Client } from "../dist/index.js";
import { FileStore } from "../dist/file-store.js";
import { everywhere } from "./everywhere.mjs";

const given = JSON.parse(Deno.args[0]);
const store = new FileStore(given.folder);
const away = new Client({ url: "http://127.0.0.1:2", apiKey: "k", spool: store });
await away.record("Kept while nobody is there.");
away.close();
console.log(JSON.stringify({ ...(await everywhere(given)), kept: await store.count() }));
