import { parentPort, workerData } from 'node:worker_threads';
import { startProject } from './project.js';
import type { InstanceCall, InstanceData } from './separate-instance.js';

/** The code of a thread that runs an instance. It shares no state with other instances of the process. */
const port = parentPort;
if (port === null) throw new Error('this file runs only in a worker thread');
const { files, env } = workerData as InstanceData;
const project = await startProject(files, { env });
port.on('message', ({ number, call, body }: InstanceCall) => {
  void run(call, body).then(
    (result) => port.postMessage({ number, result }),
    (error: unknown) => port.postMessage({ number, error: String(error) }),
  );
});
port.postMessage('ready');

async function run(call: InstanceCall['call'], body: unknown): Promise<unknown> {
  const { entities, features, pipelines, resident } = project.app;
  switch (call) {
    case 'upload':
      return entities.upload(body);
    case 'get':
      return entities.get(body);
    case 'push':
      return features.push(body);
    case 'explain':
      return pipelines[0]?.explain(body, { requestId: 'r', runId: 'r' });
    case 'resident':
      return resident.states();
    case 'close':
      return project.close();
  }
}
