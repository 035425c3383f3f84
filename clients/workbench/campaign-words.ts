import { amountText, conditionText } from './campaign-acts.js';
import { listOf, pinsOf, targetsOf, type Campaign } from './campaign.js';
import { daysText, say } from './campaign-language.js';

/** The title of a product with its id, as far as the page knows it. */
export type NameOf = (id: string) => string;

/** What a campaign says, a line for each key that it has. */
export function campaignLines(campaign: Campaign, nameOf: NameOf): readonly string[] {
  const { on, hide, boost, bury, sponsor, banner, note } = campaign;
  const days = daysText(campaign);
  const hidden = listOf(hide);
  const pages = say.isFor(targetsOf(campaign).map(([, value]) => value));
  return [
    ...(days === '' ? [] : [days]),
    on?.when === undefined ? pages : `${pages} ${say.onlyWhen(on.when)}`,
    ...pinsOf(campaign).map(({ place, id }) => `${say.place(place)}: ${nameOf(id)}`),
    ...(hidden.length === 0 ? [] : [`${say.keys['hide']}: ${hidden.map(nameOf).join(', ')}`]),
    ...(boost === undefined ? [] : [`${say.boost}: ${conditionText(boost.where)} ${amountText(boost)}`]),
    ...(bury === undefined ? [] : [`${say.bury}: ${conditionText(bury.where)}`]),
    ...(sponsor === undefined
      ? []
      : [
          `${say.sponsor}: ${sponsor.places.map((one) => say.place(one)).join(', ')}: ${nameOf(sponsor.product)}, ${sponsor.label}`,
        ]),
    ...(banner === undefined ? [] : [`${say.banner}: ${Object.values(banner).join(', ')}`]),
    ...(note === undefined ? [] : [`${say.note}: ${note}`]),
  ];
}
