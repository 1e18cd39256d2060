// The same as client_v1.mjs by version 2, which probes for the modern era; a
// third argument "legacy" has it shake hands instead.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const where = JSON.parse(process.argv[2]);
const calls = JSON.parse(process.argv[3]);
const mode = process.argv[4] ?? 'auto';
const client = new Client({ name: 'test', version: '2' },
  { capabilities: {}, versionNegotiation: { mode } });
const transport = where.url !== undefined ?
  new StreamableHTTPClientTransport(new URL(where.url)) :
  new StdioClientTransport({ command: where.command, args: where.args, env: process.env });
await client.connect(transport);
const seen = { server: client.getServerVersion?.(), progress: 0, results: [],
  version: client.getNegotiatedProtocolVersion?.() };
seen.tools = (await client.listTools()).tools;
for (const [name, args] of calls)
  seen.results.push(await client.callTool({ name, arguments: args },
    { onprogress: () => { seen.progress++; } }));
const giveUp = new AbortController();
const long = client.callTool({ name: 'bash', arguments: { command: 'sleep 600' } },
  { signal: giveUp.signal }).catch(e => String(e));
setTimeout(() => giveUp.abort('enough'), 300);
seen.aborted = await long;
await new Promise(done => setTimeout(done, 200));
await client.close();
console.log(JSON.stringify(seen));
