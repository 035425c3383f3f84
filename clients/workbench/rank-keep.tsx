import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import type { RoundState } from '../../runtime/serve/judging/round.js';
import { Choice, Text } from './campaign-parts.js';
import { saveFile } from './parts.js';
import { say } from './rank-language.js';
import { judging, keepTest, messageOf, rounds, type SentRequest } from './service.js';

/** Saves a ranking as a test of the project. */
export function KeepTest({
  pipeline,
  request,
}: {
  readonly pipeline: string;
  readonly request: SentRequest;
}): JSX.Element {
  const [name, setName] = useState(`${pipeline}_1`);
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isTried = Object.keys(request.params ?? {}).length > 0;
  const save = async (): Promise<void> => {
    setBusy(true);
    setSaid('');
    try {
      const { file, yaml, notes } = await keepTest(name, pipeline, JSON.parse(request.body) as object);
      saveFile(file.split('/').at(-1) ?? file, yaml, 'application/yaml');
      setSaid([say.testSaved(file), ...notes].join('\n'));
    } catch (error) {
      setSaid(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <form
      class="plain"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>{say.keep}</h2>
      <div class="row">
        <label>
          {say.testName}{' '}
          <input
            id="test"
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={isBusy || isTried}>
          {say.saveTest}
        </button>
        {isTried && <span class="hint">{say.triedParams}</span>}
      </div>
      <p id="kept" class="lines" role="status">
        {said}
      </p>
    </form>
  );
}

/** Saves a grade of a candidate in a round of judging that has the query. */
export function SaveJudgment({ id, query }: { readonly id: string; readonly query: string }): JSX.Element {
  const [all, setAll] = useState<readonly RoundState[]>();
  const [round, setRound] = useState('');
  const [grade, setGrade] = useState('');
  const [said, setSaid] = useState('');
  const open = async (): Promise<void> => {
    try {
      const { rounds: found } = await rounds();
      setAll(found);
      setRound(found[0]?.round ?? '');
      setGrade(String(found[0]?.grades.at(-1) ?? ''));
    } catch (error) {
      setSaid(messageOf(error));
    }
  };
  const save = async (): Promise<void> => {
    try {
      const { number } = await judging<{ readonly number: number }>('add', {
        round,
        query,
        candidate_id: id,
      });
      await judging('grade', { round, number, grades: [{ candidate_id: id, grade: Number(grade) }] });
      setSaid(say.judged(round));
    } catch (error) {
      setSaid(messageOf(error));
    }
  };
  const grades = all?.find((one) => one.round === round)?.grades ?? [];
  return (
    <details
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && all === undefined) void open();
      }}
    >
      <summary>{say.judgment}</summary>
      {query === '' && <p>{say.noQuery}</p>}
      {all?.length === 0 && <p>{say.noRound}</p>}
      {query !== '' && all !== undefined && all.length > 0 && (
        <div class="row">
          <Choice
            label={say.round}
            value={round}
            options={all.map((one) => [one.round, one.round] as const)}
            onChange={setRound}
          />
          <Choice
            label={say.grade}
            value={grade}
            options={grades.map((one) => [String(one), String(one)] as const)}
            onChange={setGrade}
          />
          <button type="button" onClick={() => void save()}>
            {say.save}
          </button>
        </div>
      )}
      <p role="status">{said}</p>
    </details>
  );
}

/** What the process cannot do, and the remedy, before somebody tries. */
export function Lacks({
  elsewhere,
  hasLedger,
}: Pick<WorkbenchProject, 'elsewhere' | 'hasLedger'>): JSX.Element | null {
  if (elsewhere === null && hasLedger) return null;
  return <p class="hint">{elsewhere === null ? say.noLedger : say.elsewhere[elsewhere]}</p>;
}

/** Opens a logged request by its id. */
export function OpenLogged({ onOpen }: { readonly onOpen: (id: string) => void }): JSX.Element {
  const [id, setId] = useState('');
  return (
    <form
      class="plain"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== '') onOpen(id.trim());
      }}
    >
      <div class="row">
        <Text label={say.logged} isLive value={id} onChange={setId} />
        <button type="submit">{say.open}</button>
      </div>
    </form>
  );
}
