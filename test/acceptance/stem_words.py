"""Makes words of twelve languages from stems and endings, and stems them with snowballstemmer.

    python test/acceptance/stem_words.py [FOLDER]

It prints a JSON object: for each language the words, and their stems. With FOLDER it takes a thousand words of each file
FOLDER/<language>.txt instead, one word a line, such as a dictionary of the system. Version 2 of snowballstemmer stems the three
languages whose stemmers Millrace has of that version.
"""

import json
import pathlib
import random
import re
import sys
from importlib.metadata import version

import snowballstemmer

# Stems are of nouns, verbs and adjectives of shops; endings are inflections and derivations of the language. Not every
# combination is a word, but each has the form of one.
WORDS = {
    "danish": (
        "lamp bord stol cykel hus jakk sko kjol farv lys løb køb sælg billig venlig rød grøn børn køkken natt",
        "e en er et ene erne ens ers ets s es else elser elsen ende ede et ig ige igt lig lige ligt hed heden heder els eres erede eren løst løse",
    ),
    "english": (
        "lamp shoe run shop hop care batter glass happ music nation organ general relat fluor prett cr bab univers past",
        "s es ed ing er ers y ies ied ly ness less ful fully ation ational izer ization ity able ably ment ments ive iveness ous ously ism ist ogist eed eedly ance ence al ally ical icate est 's",
    ),
    "german": (
        "lamp haus häus läuf schrank jack größ kleid kauf rechn freund schnell wasch koch fahr straß regal bau quell system",
        "e en er es em ern s st est et ung ungen heit heiten keit keiten lich liche lichen ig ige igkeit isch ische end ende erin erinnen nis nisse nissen te tet eln eler bar chen",
    ),
    "hungarian": (
        "lámp ház asztal szék cipő könyv kerékpár szép nagy olcsó ruh táska víz kert zöld piros gép test fej út",
        "a ak ok ek ban ben nak nek val vel hoz hez ból ből ról ről tól től ért ig ként kor ul ül stul stül onként enként ja je jai jei unk ünk atok etek ám áim eim ás és ó ő",
    ),
    "italian": (
        "lampad cas scarp tavol sedi libr bell rapid gioc lavor compr vend port cucin giardin nazion organizz attiv utilit logic",
        "a e i o are ere ire ato ata ati ate ando endo azione azioni atore atori mente amente ità ivo iva ivi oso osa ismo ista isti abile abili ibile anza enza erò eremo assero isce iscono logia uzione",
    ),
    "norwegian": (
        "lamp bord stol sykkel hus jakk sko kjol farg lys løp kjøp selg billig vennlig rød grønn barn kjøkken natt",
        "a e en er et ene ene ens ers ets s es ede ende ande ane ar ast else hetene heten heter het erte ert lig eleg ig leg els lov slov hetslov dt vt",
    ),
    "portuguese": (
        "lâmpad cas sapat mes cadeir livr bonit rápid jog trabalh compr vend port cozinh jardim nacion organiz ativ util lógic",
        "a as o os ar er ir ado ada ados ando endo ação ações ador adores mente amente idade idades ivo iva oso osa ismo ista ável ível ância ência arei aremos assem isse logia ução eza eiro eira",
    ),
    "romanian": (
        "lamp cas pantof mas carte bicicle frumos rapid ieftin joc lucr cumpăr vând port bucătăr grădin nation organiz activ util",
        "a e i ul ului ele elor ilor ă ii iile ea are ere ire ează eam ați am at ată ate ați it ită ind ând ator atoare itate ist ism iv ivă abil ibil ant anță esc ește iune ment",
    ),
    "russian": (
        "ламп дом стол стул книг велосипед красн зелен быстр чита дела покупа прода работ кухн сад нов хорош маленьк вод",
        "а у е ы ой ами ах ам ов ев ый ая ое ые ого ому ыми ых ть л ла ли ет ют ешь ешь ите ся сь ость ости вший вшись ющий нн ейш ую ия ией",
    ),
    "spanish": (
        "lámpar cas zapat mes sill libr bonit rápid jueg trabaj compr vend port cocin jardín nacion organiz activ util lógic",
        "a as o os ar er ir ado ada ados ando iendo ación aciones ador adores mente amente idad idades ivo iva oso osa ismo ista able ible ancia encia aré aremos asen iese logía ución eza ero arlo ándole acion",
    ),
    "swedish": (
        "lamp bord stol cykel hus jack sko kjol färg ljus löp köp sälj billig vänlig röd grön barn kök natt",
        "a e ar er or en et na ns s as es ens arne erna orna ande ende ade aste het heten heter heterna ig igt lig ligt löst fullt els elser else ast are aren arna dd tt",
    ),
    "turkish": (
        "lamba ev masa sandalye kitap bisiklet güzel hızlı oku gel satın çalış mutfak bahçe yeni büyük küçük su renk çocuk",
        "lar ler ım im um üm ın in un ün da de ta te dan den a e yı yi ya ye nın nin la le lık lik lı li sız siz cı ci lardan lerden larımız lerimiz dır dir ken",
    ),
}
# Languages whose stemmers are those of Snowball 2: version 3 changed them.
OLDER = {
    "dutch": (
        "lamp huis fiets schoen kast tafel boek mooi snel goedkoop lop werk verkop kok kind groot wit water tuin reken",
        "e en s je jes tje tjes heid heden lijk lijke ig ige ing ingen er ers ster sters end ende te de d t baar bare loos loze achtig isch ische eren eert sel",
    ),
    "finnish": (
        "lamppu talo pöytä tuoli kirja polkupyörä kaunis nopea halpa kenkä laukku vesi puutarha vihreä puna kone keho jalka pää osta",
        "n a ä ssa ssä sta stä lla llä lta ltä lle ksi na nä tta ttä t en in hin iin ja jä ien iden issa issä ista istä ille ni si mme nne nsa nsä kin kaan han isuus inen iset uus ys",
    ),
    "french": (
        "lamp maison chauss tabl livr bell rapid jou travaill achet vend port cuisin jardin nation organis activ util logiqu cheva",
        "e es s er ez ons ent ait aient era eront ant ante antes é ée ées és ement ements euse eux if ive ives ité ités able ables isme iste istes ation ations ateur atrice ence ences logie ution aux issement",
    ),
}
EACH = 1000


def languages():
    """The languages that the installed version of snowballstemmer must agree on."""
    return WORDS if int(version("snowballstemmer").split(".")[0]) >= 3 else OLDER


def words_of(language):
    stems, endings = (part.split(" ") for part in languages()[language])
    seen = {stem + ending for stem in stems for ending in endings}
    # Two endings in a row fill up to the number.
    for first in endings:
        for second in endings:
            for stem in stems:
                if len(seen) >= EACH:
                    return sorted(seen)
                seen.add(stem + first + second)
    return sorted(seen)


def words_in(folder, language):
    text = (pathlib.Path(folder) / f"{language}.txt").read_text(encoding="utf-8")
    words = sorted({word.lower() for word in text.split("\n") if re.fullmatch(r"[^\W\d_]+", word)})
    return sorted(random.Random(language).sample(words, min(EACH, len(words))))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    made = {}
    for language in languages():
        words = words_of(language) if folder is None else words_in(folder, language)
        made[language] = {"words": words, "stems": snowballstemmer.stemmer(language).stemWords(words)}
    json.dump(made, sys.stdout, ensure_ascii=False)


main()
