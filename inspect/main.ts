import type { Explanation } from '../runtime/request/pipeline/explain/explanation.js';
import type { Inspected } from '../runtime/serve/http/routes/inspect.js';
import { answerView, placesOf, type Places } from './answer.js';
import { element, part } from './dom.js';
import { explain, inspected, Refusal, useKey } from './service.js';

/** How often the page asks for the state of the project, milliseconds. */
const EVERY_MS = 1000;

const pipeline = part('pipeline', HTMLSelectElement);
const body = part('body', HTMLTextAreaElement);
const samples = part('samples', HTMLParagraphElement);
const refused = part('refused', HTMLParagraphElement);
const answer = part('answer', HTMLElement);
const state = part('state', HTMLSpanElement);

let project: Inspected | undefined;
/** The request whose answer is shown, and that answer's places. */
let shown: { readonly path: string; readonly body: string; readonly places: Places } | undefined;

type Described = Inspected['pipelines'][number];

function chosen(): Described | undefined {
  return project?.pipelines.find(({ name }) => name === pipeline.value);
}

/** Lists the pipelines, and keeps the choice and the edited request if they still exist. */
function list({ pipelines }: Inspected): void {
  const before = pipeline.value;
  pipeline.replaceChildren(...pipelines.map(({ name }) => element('option', name)));
  const kept = pipelines.some(({ name }) => name === before);
  if (kept) pipeline.value = before;
  choose(!kept);
}

function choose(isNew: boolean): void {
  const one = chosen();
  part('route', HTMLParagraphElement).textContent = one === undefined ? '' : `POST ${one.route}`;
  samples.replaceChildren();
  for (const { title, body: sample } of one?.samples ?? []) {
    const button = element('button.link', title);
    button.setAttribute('type', 'button');
    button.addEventListener('click', () => (body.value = JSON.stringify(sample, null, 2)));
    samples.append(samples.childNodes.length === 0 ? 'Samples: ' : ', ', button);
  }
  if (isNew) body.value = JSON.stringify(one?.samples[0]?.body ?? {}, null, 2);
}

async function send(): Promise<void> {
  const one = chosen();
  if (one === undefined) return;
  const request = { path: one.explain, body: body.value };
  refused.textContent = '';
  try {
    const explanation = await explain(request.path, request.body);
    show(explanation, request);
  } catch (error) {
    refuse(error);
  }
}

function show(explanation: Explanation, request: { readonly path: string; readonly body: string }): void {
  const same = shown?.path === request.path && shown.body === request.body;
  answer.replaceChildren(answerView(explanation, same ? shown?.places : undefined));
  shown = { ...request, places: placesOf(explanation) };
}

function refuse(error: unknown): void {
  if (error instanceof Refusal && (error.status === 401 || error.status === 403))
    part('keyLine', HTMLLabelElement).hidden = false;
  refused.textContent = error instanceof Error ? error.message : String(error);
}

/** Asks for the state of the project, and sends the request again if another version serves. */
async function look(): Promise<void> {
  let next: Inspected;
  try {
    next = await inspected();
  } catch (error) {
    state.textContent = error instanceof Refusal ? '' : 'The service does not answer.';
    if (error instanceof Refusal) refuse(error);
    return;
  }
  const before = project;
  project = next;
  const { name, version, reload } = next;
  part('project', HTMLSpanElement).textContent = name;
  state.textContent = `version ${version}${next.watches ? ', changes of files apply at once' : ''}`;
  const failed = reload?.outcome === 'failed';
  part('problems', HTMLElement).hidden = !failed;
  part('diagnostics', HTMLPreElement).textContent = failed ? reload.text : '';
  if (before?.version === version) return;
  list(next);
  if (before !== undefined && shown !== undefined && part('again', HTMLInputElement).checked) await send();
}

part('request', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
pipeline.addEventListener('change', () => choose(true));
body.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  void send();
});
part('key', HTMLInputElement).addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement) useKey(target.value);
  refused.textContent = '';
  void look();
});

/** Polls only while the page is visible. */
async function follow(): Promise<void> {
  if (!document.hidden) await look();
  setTimeout(() => void follow(), EVERY_MS);
}

void follow();
