/** What the rules of a merchandiser's list ask of a ranking. */
import type { ColumnOf } from './columns.js';
import type { Input } from './input.js';

/** The list that a step applies; see `BuildContext.needCuration`. */
export interface CurationWanted {
  /** The name of a file in curation/. */
  readonly list: string;
  /** The query of the request. By default `query.query`, if the pipeline has it. */
  readonly query?: Input<'text'> | undefined;
  /** The category of the request. By default `category.category_id` or `request.category`, if the pipeline has one. */
  readonly category?: Input<'text'> | undefined;
  /** Further names that rules may use which come while the service runs. */
  readonly reads?: readonly string[];
}

/** Identifies the list of a step. It is made when the pipeline is compiled. */
export interface CurationInput {
  readonly list: string;
  /** Whether a rule in service has `brings`. */
  readonly brings?: boolean;
}

/** A rule that applies to a request now. */
export interface CuratedRule {
  /** `campaigns:black_friday`, or the number of the rule, `campaigns:3`. */
  readonly name: string;
  readonly pins: readonly { readonly position: number; readonly id: string }[];
  /** Ids of candidates to remove. */
  readonly hides: readonly string[];
  /** `where` has 1 for candidates that meet the condition. It is computed when it is read. */
  readonly boosts: readonly {
    readonly where: ColumnOf<'number'>;
    readonly change: 'multiply' | 'add';
    readonly amount: number;
  }[];
  /** `where` has 1 for candidates to place below all others. It is computed when it is read. */
  readonly buries: readonly { readonly where: ColumnOf<'number'> }[];
  readonly sponsors: readonly CuratedSponsor[];
  readonly contents: readonly Content[];
  /** Whether what it pins and sponsors becomes a candidate, whatever the step says. */
  readonly brings: boolean;
}

/** A paid place: of the positions, it takes the first that is free. */
export interface CuratedSponsor {
  readonly places: readonly number[];
  readonly id: string;
  /** What the answer says of the candidate there. */
  readonly label: string;
}

/** Content of an answer, beside its candidates. */
export interface Content {
  /** Where it is to be shown, such as `top`. */
  readonly place: string;
  readonly image?: string;
  readonly link?: string;
  readonly text?: string;
}
