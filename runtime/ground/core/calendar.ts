/**
 * Parts of a time, from its milliseconds since 1970 on a calendar without leap seconds (proleptic Gregorian). Of a local
 * time, the milliseconds include the offset of its zone. They compute without objects, since they run for each candidate.
 */
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export function hour(time: number): number {
  return Math.floor(modulo(time, DAY) / HOUR);
}

export function minute(time: number): number {
  return Math.floor(modulo(time, HOUR) / 60_000);
}

export function second(time: number): number {
  return Math.floor(modulo(time, 60_000) / 1000);
}

/** 1 is Monday, 7 is Sunday. Day 0 of the epoch was a Thursday. */
export function weekday(time: number): number {
  return modulo(Math.floor(time / DAY) + 3, 7) + 1;
}

/** 1 for a Saturday or a Sunday, otherwise 0. */
export function isWeekend(time: number): number {
  return weekday(time) > 5 ? 1 : 0;
}

export function dayOfMonth(time: number): number {
  const day = dayOfYear(time);
  return day - Math.floor((153 * marchMonth(day) + 2) / 5) + 1;
}

export function month(time: number): number {
  const march = marchMonth(dayOfYear(time));
  return march < 10 ? march + 3 : march - 9;
}

export function year(time: number): number {
  const day = shifted(time);
  const era = Math.floor(day / ERA);
  return yearOfEra(day - era * ERA) + 400 * era + (month(time) <= 2 ? 1 : 0);
}

/*
 * The days are counted in eras of 400 years that begin on 1 March, so that a leap day is the last day of its year.
 * Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
 */
const ERA = 146_097;

/** Days since 1 March of the year 0. */
function shifted(time: number): number {
  return Math.floor(time / DAY) + 719_468;
}

function yearOfEra(day: number): number {
  return Math.floor(
    (day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365,
  );
}

/** Days since 1 March, from 0. */
function dayOfYear(time: number): number {
  const day = modulo(shifted(time), ERA);
  const years = yearOfEra(day);
  return day - (365 * years + Math.floor(years / 4) - Math.floor(years / 100));
}

/** The months since March, from 0. */
function marchMonth(day: number): number {
  return Math.floor((5 * day + 2) / 153);
}

function modulo(a: number, b: number): number {
  return ((a % b) + b) % b;
}
