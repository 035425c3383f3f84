/**
 * The causes of a degraded answer, in the order reported. The header `Millrace-Degraded` uses the same causes. `unranked`
 * occurs without any other cause but `retrieve` and `read`, `unscored` at most once, and each other cause once for each step or view.
 */
export const DEGRADATION_CAUSES = {
  retrieve:
    'a retriever that failed, was late, or did not answer in full; the candidates are those of the others',
  read: 'a feature view whose reader failed, was late, or did not answer in full; its values are stale or failed',
  front: 'a search whose hits could not be ranked, so they are in the order of the engine',
  unranked:
    'the store could not be read, so the candidates are in the order sent (`on_store_error: unranked`)',
  unscored: 'candidates that got no score from a step that sets the score, nor from any other step',
  skipped: 'a step that failed and was skipped because of `on_error: skip`',
  not_finite: 'a rule that wrote scores that are not finite; those candidates kept the scores that they had',
  failed: 'a feature view with a value that could not be read',
  arm: 'an interleaving whose arms could not both be run, so the order is that of control',
} as const;

export interface Degradation {
  readonly cause: keyof typeof DEGRADATION_CAUSES;
  /**
   * For `unranked`: the code of the failure; for `unscored`: candidates without a score / ranked candidates; otherwise the
   * name of the retriever, step, view or experiment.
   */
  readonly value: string;
}

/** `cause=value`, as in the header and on the command line. */
export function degradationText({ cause, value }: Degradation): string {
  return `${cause}=${value}`;
}
