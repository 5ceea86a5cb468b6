"""Closed lists of words in English, German and Spanish that the checks read by. General lists; they judge nothing."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(lines: str) -> dict[str, str]:
    """`base: form form` a line, as form -> base."""
    made: dict[str, str] = {}
    for line in lines.strip().splitlines():
        base, _, forms = line.strip().partition(":")
        made |= dict.fromkeys(forms.split(), base)
    return made


STOP = _set(
    "the a an and or of in on at to for with by from as is are was were be been being am it its this that these those "
    "which who whom whose he she they his her hers their theirs them him we us our you your i my me do does did done "
    "has have had having will would can could may might shall should must than then there here so such into onto "
    "about over under up out if when where while what how why also too very just own s t re ve ll d m "
    "der die das den dem des ein eine einen einem einer eines und oder im auf aus bei beim mit nach von vom zu zum zur "
    "für um als ist sind war waren wird werden wurde wurden worden sein hat haben hatte hatten kann können darf dürfen "
    "muss müssen es sie er ihr ihre ihren ihrem ihrer seine seinen seinem seiner sich man dass wenn wie auch bis seit "
    "vor durch über unter "
    "el la los las un una unos unas y e o u de del al con por para que se su sus es son fue fueron era eran ser está "
    "están ha han había haber hay lo le les como más cuando donde si también este esta estos estas ese esa desde hasta "
    "sobre entre muy ya en"
)
"""Words that say nothing about what a text is about."""

SPLITS = _set(
    "if once provided falls wenn si "
    "and but while whereas although though because since which who unless whose yet so then before after where until "
    "und aber während obwohl weil sondern wobei sodass doch "
    "y e pero mientras aunque porque sino que cuando"
)
"""Words at which another part of a sentence begins."""

NEGATORS = _set(
    "not no never none nobody nothing nowhere neither nor without cannot unable hardly scarcely "
    "failed fails fail failing refused refuses refuse refusing denied denies deny denying avoided avoids avoid "
    "lacks lack lacked lacking missing absent prevented prevents declined "
    "nicht nichts kein keine keinen keinem keiner keines nie niemals niemand ohne weder noch kaum verweigerte "
    "verweigert bestritt bestreitet "
    "no nunca jamás sin ningún ninguno ninguna ninguno nadie nada ni tampoco negó niega rehusó evitó carece"
)
"""Words that turn what is said into its opposite."""

CONVERSE = _set(
    "collect buy purchase acquire receive borrow get obtain inherit accept gain kaufen erwerben erhalten bekommen "
    "leihen übernehmen erben comprar recibir adquirir obtener heredar"
)
"""Verbs whose subject is the one to whom something goes."""
GIVE = _set(
    "refer assign forward transmit distribute dispatch bequeath allocate entrust schenken "
    "übergeben übertragen zuweisen leihen regalar transferir asignar remitir "
    "sell lend give donate send supply grant hand award pay provide transfer submit cede deliver offer "
    "verkaufen geben schenken liefern senden überlassen spenden vender dar donar ceder entregar prestar enviar vendir"
)
"""Verbs whose subject is the one from whom something comes."""

IRREGULAR = _table("""
buy: bought buys buying
sell: sold sells selling sale
lend: lent lends lending loan
borrow: borrowed borrows
teach: taught teaches teaching teacher
beat: beaten beats
steal: stole stolen steals stealing
give: gave given gives giving
take: took taken takes taking
send: sent sends sending
win: won wins winning winner
lose: lost loses losing loss
lead: led leads leading leader
drive: drove driven drives
write: wrote written writes writing writer
choose: chose chosen chooses choice
fall: fell fallen falls falling
rise: rose risen rises rising
grow: grew grown grows growing growth
shrink: shrank shrunk shrinks shrinking
begin: began begun begins beginning
break: broke broken breaks
pay: paid pays paying payment
find: found finds finding
hold: held holds holding
keep: kept keeps keeping
leave: left leaves leaving
make: made makes making
build: built builds building
catch: caught catches
bring: brought brings
see: saw seen sees
know: knew known knows
speak: spoke spoken speaks
tell: told tells
say: said says
lay: laid lays laying
eat: ate eaten eats
burn: burnt burned burns
feed: fed feeds
run: ran runs running
go: went gone goes
come: came comes
meet: met meets meeting
die: died dies dying death dead
shoot: shot shoots
drink: drank drunk
overturn: overturned
erhalten: erhielt erhielten erhält
bekommen: bekam bekamen bekommt
leihen: lieh liehen geliehen leiht
übernehmen: übernahm übernahmen übernommen übernimmt
folgen: folgte gefolgt folgt
schlagen: schlug geschlagen schlägt
rebuild: rebuilt rebuilds
overtake: overtook overtaken
spend: spent spends
draw: drew drawn draws
throw: threw thrown throws
fly: flew flown flies
fight: fought fights
feel: felt feels
hear: heard hears
hurt: hurts
lie: lay lain
ride: rode ridden rides
sink: sank sunk sinks
swim: swam swum
wear: wore worn wears
bind: bound binds
freeze: froze frozen freezes
forget: forgot forgotten
hide: hid hidden
shut: shuts
stand: stood stands
strike: struck strikes
kaufen: kauft kaufte kauften gekauft
verkaufen: verkauft verkaufte verkauften
geben: gibt gab gaben gegeben
wählen: wählt wählte gewählt
steigen: stieg stiegen gestiegen steigt
sinken: sank sanken gesunken sinkt
schlagen: schlug geschlagen schlägt
besiegen: besiegt besiegte
ablösen: löste abgelöst löst
ernennen: ernennt ernannte ernannt
verlieren: verlor verloren verliert
gewinnen: gewann gewonnen gewinnt
bauen: baut baute gebaut
schreiben: schrieb geschrieben schreibt
entstehen: entstand entstanden entsteht
comprar: compró compraron compra comprado
vender: vendió vendieron vende vendido vendida
recibir: recibió recibieron recibe recibido
ceder: cedió cedieron cede cedido
dar: dio dieron da dado
nombrar: nombró nombraron nombra nombrado nombrada
ganar: ganó ganaron gana ganado
perder: perdió perdieron pierde perdido
derrotar: derrotó derrotado derrotada
construir: construyó construyeron construye construido construida
abrir: abrió abrieron abre abierto abierta
""")
"""Form -> base, for verbs that the endings do not give."""

OPPOSITES: tuple[tuple[str, str, str], ...] = (
    ("change", "increase rise grow climb gain more-of expand improve upward higher steigen zunehmen wachsen stieg "
     "zugenommen gewachsen erhöhen erhöht aumentar aumentó subir subió creció crecer",
     "decrease fall shrink decline drop slip reduce diminish lower shorten worsen sinken abnehmen fallen "
     "zurückgehen zurück gesunken verringern disminuir disminuyó bajar bajó reducir descendió caer cayó"),
    ("quality", "better improve improved", "worse worsened deteriorated"),
    ("allow", "allow allowed permit permitted permission admit admitted may-do legal possible let erlaubt zulässig "
     "gestattet permitir permitido permitida permite",
     "forbid forbidden prohibit prohibited ban banned bar barred exclude excluded illegal impossible disallow verboten "
     "untersagt unzulässig prohibir prohibido prohibida prohíbe"),
    ("switch", "enable enabled activate activated eingeschaltet aktiviert encendido activado",
     "disable disabled deactivate deactivated ausgeschaltet deaktiviert apagado desactivado"),
    ("accept", "accept accepted approve approved agree agreed confirm confirmed adopt adopted zugestimmt angenommen "
     "genehmigt bestätigt gebilligt aprobó aprobada aprobado aceptó aceptada aceptado aprobar aceptar",
     "reject rejected refuse refused deny denied disapprove decline declined abgelehnt verweigert zurückgewiesen "
     "rechazó rechazada rechazado rechazar denegó denegada"),
    ("open", "open opened opens opening geöffnet eröffnet öffnet abre abrió abierto inauguró",
     "close closed closes closing shut geschlossen schließt cierra cerró cerrado"),
    ("begin", "begin start started starts commence launch beginnt begann anfangen startet empieza empezó comienza "
     "comenzó abre",
     "end ended ends finish finished stop stopped terminate terminated endet endete beendet termina terminó acaba "
     "acabó cierra"),
    ("arrive", "arrive arrived arrives arrival ankommen", "depart departed leave departure"),
    ("survive", "survive survived survives remain remained saved spared intact überlebt sobrevivió",
     "lose destroyed perish perished ruined zerstört destruido"),
    ("praise", "praise praised praises lobte gelobt elogió", "criticise criticize criticised criticized criticism "
     "condemn condemned kritisierte criticó"),
    ("succeed", "success successful successfully succeeded", "failure failed unsuccessful"),
    ("include", "include included includes including contain contained contains too einschließlich incluido incluida "
     "incluye",
     "except excluding excludes omit omitted omits exclude excluded ausgenommen außer excepto salvo"),
    ("win", "win beat defeat victory victorious", "lose defeated"),
    ("present", "present attended witnessed anwesend presente", "absent abwesend ausente"),
    ("size", "larger bigger greater large big größer größte mayor", "smaller small kleiner menor"),
    ("speed", "fast faster quick quickly quicker schnell schneller rápido",
     "slow slower slowly langsam langsamer lento"),
    ("time", "early earlier sooner before früher antes", "late later after später después"),
    ("near", "near nearer close-to closer nearest näher cerca", "far farther further distant weiter lejos"),
    ("amount", "more greater mehr más", "less fewer weniger menos"),
    ("height", "higher taller above höher", "below beneath niedriger"),
    ("age", "old older oldest älter alt antiguo viejo", "young younger newer jünger joven"),
    ("need", "required mandatory compulsory obligatory must-do verpflichtend obligatorio obligatoria",
     "optional voluntary freiwillig optativo voluntario"),
    ("same", "same identical equal", "different"),
    ("legal", "valid lawful enforceable", "invalid void unlawful unenforceable"),
    ("true", "true correct right", "false wrong incorrect"),
    ("cost", "free gratis kostenlos gratuito", "paid-for"),
    ("safe", "safe harmless", "dangerous harmful unsafe"),
    ("strong", "strong stronger", "weak weaker"),
    ("extend", "extend extended renew renewed prolong verlängert renovado", "expire expired lapse lapsed abgelaufen"),
    ("rest", "cheap cheaper billiger barato", "expensive dearer teurer caro"),
    ("temperature", "warm warmer hot hotter", "cold colder cool cooler"),
    ("contain", "keep kept retained", "removed deleted discarded eradicated"),
)  # fmt: skip
"""Concept, its words, and the words of its opposite."""

COMPARATIVE = _set("more less fewer mehr weniger más menos")

ALL = _set(
    "all every each everyone everybody everything both whole entire entirely completely always any "
    "alle allen aller alles jede jeder jedes jeden jedem sämtliche beide beiden vollständig ganz immer "
    "todo todos toda todas cada ambos ambas siempre completamente"
)
NONE = _set("none nobody neither kein keine keiner keinen keines niemand ninguno ninguna ningún nadie")
MOST = _set("most mostly majority predominantly meisten meiste mehrheit mayoría")
SOME = _set(
    "some several part partly partially certain einige manche mehrere teil teilweise algunos algunas alguno alguna "
    "varios varias parte"
)
FEW = _set("few minority hardly wenige wenigen kaum pocos pocas minoría")
ONLY = _set(
    "only solely exclusively alone merely purely reserved nur ausschließlich allein lediglich solo sólo solamente "
    "únicamente exclusivamente"
)
OPEN = _set("also including too even everybody everyone anyone regardless auch sogar einschließlich también incluso")

APPROXIMATE = _set(
    "about around roughly some approximately nearly almost circa ca approx over ungefähr etwa rund knapp fast cerca "
    "unos unas aproximadamente casi alrededor"
)

CHINESE_NO = ("不", "没", "沒", "无", "無", "未", "非")
JAPANESE_NO = ("ない", "なかっ", "ません", "なし", "ぬ", "ず")
ARABIC_NO = _set("لا لم لن ليس ليست ما غير بدون دون")
