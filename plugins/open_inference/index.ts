import { createRequire } from 'node:module';
import {
  bindOutputs,
  bindTensors,
  definePlugin,
  type DetailedTensor,
  type Input,
  type JsonObject,
  OptionError,
  openOutboundClient,
  parseDuration,
  type TensorSpec,
} from 'millrace/api';
import { DATATYPES } from './datatypes.js';
import { RemoteModel } from './remote-model.js';
import { ModelServer } from './server.js';
import type { InputsEntry, Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'open_inference',
  kind: 'model',
  summary:
    'Scores with a model on another server, over the Open Inference Protocol (KServe v2): Triton, MLServer, KServe.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, build) {
    const written = Object.entries(options.inputs).map(([name, input]) => tensorOf(name, input));
    const specs = written.map(({ spec }) => spec);
    const inputs = bindTensors(
      specs,
      Object.fromEntries(written.map(({ spec, detailed }) => [spec.name, detailed])),
      build,
      { nan: false, batch: options.batch },
    );
    const outputs = bindOutputs(undefined, options.outputs);
    const timeoutMs = parseDuration(options.timeout);
    if (timeoutMs === undefined || timeoutMs < 1)
      throw new OptionError(['timeout'], `\`${options.timeout}\` is not a time`, 'write e.g. 80ms or 2s');
    const { model, version, check, max_bytes: maxBytes } = options;
    checkSegment('model', model);
    if (version !== undefined) checkSegment('version', version);
    const { url, headers, connections } = options;
    const client = openOutboundClient(build.http, { url, headers, connections, reserved: ['accept'] });
    const server = new ModelServer(client, url, model, version, { timeoutMs, maxBytes });
    return new RemoteModel(server, inputs, outputs, check, version);
  },
});

/** The options describe an input completely, because the server may not be reachable to describe its model. */
function tensorOf(name: string, written: InputsEntry): { spec: TensorSpec; detailed: DetailedTensor } {
  const given = 'value' in written ? written : { value: written };
  const { datatype, shape, ...detailed } = { datatype: undefined, shape: undefined, ...given };
  const [first] = [given.value].flat() as readonly Input[];
  const type = datatype === undefined ? (first?.kind === 'text' ? 'string' : 'float32') : DATATYPES[datatype];
  return { spec: { name, type, shape: [undefined, ...(shape ?? [undefined])] }, detailed };
}

/** Refuses `.` and `..`: they cannot be encoded in a path, and would lead to another address. */
function checkSegment(option: 'model' | 'version', text: string): void {
  if (text === '.' || text === '..')
    throw new OptionError([option], `\`${text}\` cannot be a name in the path of a URL`);
}
