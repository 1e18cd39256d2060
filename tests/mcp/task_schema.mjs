// Holds JSON against the schemas of the official package for tasks:
//   node task_schema.mjs '[["CreateTaskResult" | "GetTaskResult" | ..., {...}], ...]'
import * as schemas from '@modelcontextprotocol/ext-tasks/core/v2';

for (const [name, value] of JSON.parse(process.argv[2])) {
  const schema = schemas[name + 'V2Schema'] ?? schemas[name + 'Schema'];
  if (schema === undefined)
    throw new Error('no schema ' + name + ' of ' + Object.keys(schemas));
  schema.parse(value);
}
console.log('good');
