import type { JSX } from 'preact';
import type {
  CardSide,
  Columns,
  Part,
  Report,
  SidedPages,
  TableColumn,
} from '../../runtime/learn/report/tree.js';
import { CardFace } from './cards.js';
import { localNumbers, said, say } from './compare-language.js';
import { numberText } from './language.js';
import { Table } from './parts.js';

/** A report of the service. Its texts are said in the language of the page, as far as that has them. */
export function ReportView({
  report,
  heading,
}: {
  readonly report: Report;
  /** What stands above it already. */
  readonly heading: string;
}): JSX.Element {
  return (
    <>
      {report.gates !== undefined && report.gates.length > 0 && (
        <ul class="gates plain" aria-label={say.gate}>
          {report.gates.map(({ passed, text, value, problem }) => (
            <li class={passed ? 'pass' : 'fail'}>
              <strong>
                {passed ? '✔' : '✘'} {passed ? say.pass : say.fail}
              </strong>{' '}
              {/* A number that is not known is null in JSON. */}
              <code>{text}</code> ·{' '}
              {say.found((value as number | null) === null ? say.unknown : numberText(value, 4))}
              {problem !== undefined && <> · {<Said text={problem} />}</>}
            </li>
          ))}
        </ul>
      )}
      {said(report.title) !== heading && (
        <p>
          <Said text={report.title} />
        </p>
      )}
      {report.parts.map((part) => (
        <PartView part={part} />
      ))}
    </>
  );
}

function Said({ text }: { readonly text: string }): JSX.Element {
  const own = said(text);
  return own === undefined ? <span lang="en">{text}</span> : <>{own}</>;
}

function PartView({ part }: { readonly part: Part }): JSX.Element {
  if (typeof part === 'string')
    return (
      <p>
        <Said text={part} />
      </p>
    );
  if ('note' in part)
    return (
      <p>
        {part.label.trim() !== '' && (
          <strong>
            <Said text={part.label.trim()} />{' '}
          </strong>
        )}
        <Said text={part.note} />
      </p>
    );
  if ('rows' in part) return <TableOf part={part} />;
  if ('section' in part)
    return (
      <section class="part">
        {part.section !== '' && (
          <h3>
            <Said text={part.section} />
          </h3>
        )}
        {part.parts.map((one) => (
          <PartView part={one} />
        ))}
      </section>
    );
  if ('page' in part)
    return (
      <>
        {part.page.map((one) => (
          <PartView part={one} />
        ))}
      </>
    );
  if ('sides' in part) return <Sides pages={part} />;
  return (
    <div class="plots">
      {part.plots.map(([title, svg]) => (
        <figure>
          <figcaption>
            <Said text={title} />
          </figcaption>
          {/* The service drew it, and escaped its texts. */}
          <div lang="en" dangerouslySetInnerHTML={{ __html: svg }} />
        </figure>
      ))}
    </div>
  );
}

function TableOf({
  part: { columns, rows },
}: {
  readonly part: Extract<Part, { readonly rows: unknown }>;
}): JSX.Element {
  const all: readonly TableColumn[] = Array.isArray(columns)
    ? (columns as readonly TableColumn[])
    : Object.entries(columns as Columns).map(([title, is]) =>
        is === 'right' ? { title, align: is } : { title },
      );
  const isNumber = (at: number): boolean => all[at]?.align === 'right' || all[at]?.title === '95 % interval';
  return (
    <Table
      head={all.map(({ title }) => said(title) ?? title)}
      numbers={[...all.keys()].filter(isNumber)}
      rows={rows.map((row) =>
        row.map((cell, at) => (isNumber(at) ? localNumbers(String(cell)) : (said(String(cell)) ?? cell))),
      )}
    />
  );
}

/** The pages of a query: closed at first, so that many queries are one list. */
function Sides({ pages: { query, found, sides } }: { readonly pages: SidedPages }): JSX.Element {
  return (
    <details class="sided">
      <summary>
        <strong>{query.replace(/^line (\d+)/, (_, number: string) => say.line(number))}</strong>{' '}
        <span class="dim">{localNumbers(found)}</span>
      </summary>
      <div class="sides">
        {sides.map((side) => (
          <Side side={side} />
        ))}
      </div>
    </details>
  );
}

function Side({ side: { label, cards } }: { readonly side: CardSide }): JSX.Element {
  const hasImages = cards.some(({ card }) => card?.image !== undefined);
  return (
    <div>
      <h4>{label}</h4>
      {cards.length === 0 && <p class="dim">{say.nothingRanked}</p>}
      <ol class="cards">
        {cards.map(({ id, place, card, grade }) => (
          <li key={id}>
            <CardFace
              id={id}
              card={card}
              place={place}
              hasImages={hasImages}
              mark={<span class="dim">{grade === undefined ? '' : say.grade(numberText(grade))}</span>}
            />
          </li>
        ))}
      </ol>
    </div>
  );
}
