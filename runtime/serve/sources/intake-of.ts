import { FeedbackIntake } from './feedback-intake.js';
import type { Intake, IntakeProject, MappedSource, SourceTarget } from './intake.js';
import { RowIntake } from './row-intake.js';

/** What stores the messages of a source. */
export function intakeOf(source: MappedSource, project: IntakeProject, target: SourceTarget): Intake {
  return source.into.kind === 'feedback'
    ? new FeedbackIntake(source, project, target)
    : new RowIntake(source, project, target);
}
