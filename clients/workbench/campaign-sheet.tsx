import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DraftAnswer, SheetAnswer } from '../../runtime/state/curation/draft-answers.js';
import { say } from './campaign-language.js';
import { Field } from './campaign-parts.js';
import { language } from './language.js';
import { Fold, Table } from './parts.js';
import { curation, Refusal, type Problem } from './service.js';
import type { OpenList } from './use-list.js';

type Rows = NonNullable<Problem['rows']>;

interface SheetProps {
  readonly list: string;
  /** The draft that gets the campaigns of a file. */
  readonly draftName: string;
  readonly draft: DraftAnswer | undefined;
  readonly open: OpenList;
  readonly onSaved: (campaign: string) => void;
}

/** Exchanges campaigns with a spreadsheet. */
export function Sheet({ list, draftName, draft, open, onSaved }: SheetProps): JSX.Element {
  const [rows, setRows] = useState<Rows>([]);
  const upload = async (file: File): Promise<void> => {
    setRows([]);
    const body = { list, draft: draftName, file: base64Of(new Uint8Array(await file.arrayBuffer())) };
    const version = draft === undefined ? {} : { version: draft.version };
    await open.act(
      () =>
        curation<DraftAnswer>('draft/upload', { ...body, ...version }).catch((error: unknown) => {
          if (error instanceof Refusal) setRows(error.problem.rows ?? []);
          throw error;
        }),
      ({ changes }) => {
        onSaved(changes[0]?.campaign ?? '');
        return say.uploaded(changes.length, draftName);
      },
    );
  };
  const download = (): Promise<void> =>
    open.act(
      async () => {
        const form = language === 'de' ? 'german' : 'plain';
        const asked = { list, form, ...(draft === undefined ? {} : { draft: draftName }) };
        const { file, campaigns } = await curation<SheetAnswer>('export', asked);
        save(`${list}.csv`, file);
        return campaigns;
      },
      (campaigns) => say.downloaded(campaigns),
    );
  return (
    <Fold title={say.sheet}>
      <p class="hint">{say.sheetHint}</p>
      <div class="row">
        <Field label={say.sheetFile}>
          {(props) => (
            <input
              {...props}
              type="file"
              accept=".csv,text/csv"
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? [];
                if (file !== undefined) void upload(file);
                // The same file can be chosen again after it was corrected.
                currentTarget.value = '';
              }}
            />
          )}
        </Field>
        <button type="button" onClick={() => void download()}>
          {say.download}
        </button>
      </div>
      {rows.length > 0 && (
        <div id="rows" role="alert">
          <Table
            head={[say.row, say.column, say.whatIsWrong, say.remedy]}
            rows={rows.map(({ line, column = '', cell = '', detail, help }) => [
              String(line),
              cell === '' ? column : `${column} (${cell})`,
              say.wrong(detail),
              say.wrong(help),
            ])}
          />
        </div>
      )}
    </Fold>
  );
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Offers a file to the browser. */
function save(name: string, base64: string): void {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
