import { ProbeError, type ServerProbe } from '../../../ground/api/server-probe.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { everyStep } from '../../../request/compile/component-life.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { CompiledProject } from '../project/compile-project.js';
import { askStore, storeNeeds, type StoreNeeds } from './ask-store.js';
import type { Answer, Connection } from './connection.js';

/**
 * Asks every server that the project needs, at the same time. Nothing is changed there.
 * @param compiled a project without errors, which is not closed yet
 * @param timeoutMs how long each may take
 * @param diagnostics gets warnings of what the pipelines name and the store does not hold
 */
export async function checkConnections(
  compiled: CompiledProject,
  settings: Settings,
  timeoutMs: number,
  diagnostics: Diagnostics,
): Promise<Connection[]> {
  const needs = storeNeeds(compiled, diagnostics);
  const store = needs === undefined ? [] : [storeConnection(settings, needs, timeoutMs)];
  const steps = compiled.pipelines.flatMap(({ name, plan }) =>
    everyStep(plan).flatMap(({ as, kind, component }) =>
      component.probe === undefined
        ? []
        : [
            connection(
              `${name}: ${as}`,
              kind === 'model' ? 'model' : 'component',
              component.probe,
              timeoutMs,
            ),
          ],
    ),
  );
  const sinks = compiled.sinks.flatMap(({ definition, sink }) =>
    sink.probe === undefined ? [] : [connection(definition.name, 'sink', sink.probe, timeoutMs)],
  );
  const sources = compiled.sources.flatMap(({ definition, source }) =>
    source.probe === undefined ? [] : [connection(definition.name, 'source', source.probe, timeoutMs)],
  );
  const readers = compiled.readers.flatMap(({ view, reader }) =>
    reader.probe === undefined ? [] : [connection(view.name, 'reader', reader.probe, timeoutMs)],
  );
  return Promise.all([...store, ...steps, ...sinks, ...sources, ...readers]);
}

async function storeConnection(
  settings: Settings,
  needs: StoreNeeds,
  timeoutMs: number,
): Promise<Connection> {
  const { server, ask } = askStore(settings, needs, timeoutMs);
  return { of: 'store', kind: 'store', server, ...(await within(timeoutMs, ask)) };
}

async function connection(
  of: string,
  kind: Connection['kind'],
  probe: ServerProbe,
  timeoutMs: number,
): Promise<Connection> {
  const ask = async (signal: AbortSignal): Promise<Answer> => ({
    state: 'ok',
    detail: await probe.ask(signal),
  });
  return { of, kind, server: probe.server, ...(await within(timeoutMs, ask)) };
}

/** A server that does not answer in time has failed, whatever it does later. */
async function within(timeoutMs: number, ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
  const signal = AbortSignal.timeout(timeoutMs);
  let stop = (): void => undefined;
  const late = new Promise<Answer>((resolve) => {
    const tell = (): void =>
      resolve({
        state: 'failed',
        detail: `no answer within ${timeoutMs} ms`,
        help: 'check the address and whether the server runs; --timeout allows more time',
      });
    signal.addEventListener('abort', tell, { once: true });
    stop = () => signal.removeEventListener('abort', tell);
  });
  try {
    return await Promise.race([ask(signal), late]);
  } catch (error) {
    return failure(error);
  } finally {
    stop();
  }
}

function failure(error: unknown): Answer {
  if (error instanceof ProbeError) return { state: 'failed', detail: error.message, help: error.help };
  if (error instanceof MillraceError) return { state: 'failed', detail: error.message }; // it says what to do
  return {
    state: 'failed',
    detail: error instanceof Error ? error.message : String(error),
    help: 'check the address, the password and whether the server runs',
  };
}
