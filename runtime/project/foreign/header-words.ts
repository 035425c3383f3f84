import { normalized } from '../../ground/core/unicode-form.js';
import { plainName } from './name-fit.js';

/**
 * Headers of other languages, by the English name of the column. Each is written as `foldedName` makes it; German headers are
 * also written with `ae`, `oe` and `ue`.
 */
const HEADERS: Readonly<Record<string, string>> = {
  product_id:
    'artikelnummer artikelnr artikel_nr artikel_nummer artikel_id artikel_no art_nr artnr produkt_id produktnummer produktnr bestellnummer reference ref id_produit produit_id code_article numero_article id_producto codigo codigo_producto referencia producto_id codice codice_articolo codice_prodotto id_prodotto artikelnummer_sku productnummer artikkelnummer varenummer tuotenumero numer_produktu indeks',
  title:
    'titel bezeichnung artikelbezeichnung produktbezeichnung produktname artikelname kurzbezeichnung titre nom nom_produit designation libelle intitule nombre nombre_producto titulo denominacion titolo nome nome_prodotto denominazione naam productnaam benamning namn navn nazwa tytul tuotenimi',
  description:
    'beschreibung artikelbeschreibung produktbeschreibung langtext kurzbeschreibung langbeschreibung texte descriptif descripcion descripcion_larga descrizione descricao omschrijving beskrivning beskrivelse opis kuvaus',
  brand:
    'marke hersteller markenname marque fabricant marca fabricante produttore merk marke_name varumarke merke marka tuotemerkki',
  category:
    'kategorie warengruppe produktgruppe artikelgruppe sortiment rubrik categorie rayon famille categoria seccion familia reparto categorie_naam kategori kategoria',
  color: 'farbe couleur colore cor kleur farg farve kolor',
  size: 'grosse groesse taille talla taglia tamano maat storlek storrelse rozmiar',
  price:
    'preis verkaufspreis bruttopreis nettopreis vk_preis vk einzelpreis prix prix_ttc prix_unitaire precio precio_venta prezzo preco prijs pris cena hinta',
  stock:
    'bestand lagerbestand lager lagermenge verfugbar verfugbarkeit verfuegbar verfuegbarkeit auf_lager vorrat disponible disponibilite en_stock quantite_stock existencias inventario disponibilidad disponibilita giacenza voorraad lagersaldo lagerstatus saldo dostepnosc stan_magazynowy',
  rating:
    'bewertung bewertungen bewertungsschnitt sterne durchschnittsbewertung avis evaluation note_moyenne etoiles valoracion calificacion puntuacion estrellas valutazione voto avaliacao beoordeling waardering betyg vurdering ocena',
  orders:
    'bestellungen verkaufe verkaeufe verkauft absatz verkaufszahl ventes commandes ventas pedidos vendite ordini vendas bestellingen verkopen forsaljning salg sprzedaz',
  clicks: 'klicks klick clics clic clicks_totales',
  views: 'aufrufe ansichten seitenaufrufe vues visitas visualizzazioni weergaven visningar',
  revenue: 'umsatz chiffre_affaires ingresos facturacion fatturato omzet',
  released:
    'erscheinungsdatum erschienen veroffentlicht veroeffentlicht eingestellt hinzugefugt date_de_sortie date_sortie date_parution fecha_lanzamiento fecha_publicacion data_uscita verschijningsdatum',
  query:
    'suchbegriff suchanfrage suche anfrage suchwort suchtext requete recherche mot_cle consulta busqueda termino ricerca query_di_ricerca zoekterm zoekopdracht sokning fraza',
  grade:
    'note relevanz bewertung_der_relevanz urteil stufe pertinence jugement relevancia nota_relevancia rilevanza punteggio relevantie relevans score_relevance',
};

const ENGLISH: ReadonlyMap<string, string> = new Map(
  Object.entries(HEADERS).flatMap(([english, words]) => words.split(' ').map((word) => [word, english])),
);

/** Letters that do not decompose into a letter of ASCII and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
};

/** A header in lower-case letters of ASCII, its words joined by `_`: `Größe (cm)` becomes `grosse_cm`. */
export function foldedName(header: string): string {
  const ascii = normalized(header, 'NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæøœłđðþ]/giu, (letter) => LETTERS[letter.toLowerCase()] ?? '');
  return plainName(ascii);
}

/** The English name of a header of any language; a header of no table stays as it is, folded. */
export function englishName(header: string): string {
  const name = foldedName(header);
  // A price may name its currency, a mean begins with Ø, and a count may name its days.
  const bare = name
    .replace(/_(?:in_)?(?:eur|euro|chf|usd|gbp|sek|nok|dkk|pln)$/, '')
    .replace(/^o_/, '')
    .replace(/(?:_letzte)?_\d+_?(?:tage?|d|jours|dias|giorni|dagen)$/, '');
  return ENGLISH.get(name) ?? ENGLISH.get(bare) ?? name;
}
