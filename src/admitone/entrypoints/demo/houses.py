"""The two houses: founded, staffed, known to the law, and with an account at the sandbox that takes payments.

Promise: they owe nothing of what an organisation owes before it takes money. Their accounts are completed in the
sandbox's own books, so that whoever asks it is told the same.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from admitone.entrypoints.demo.ground import Ground
from admitone.entrypoints.demo.people import PURPOSE, staff_of
from admitone.finance.gateways.api import Account
from admitone.finance.gateways.port import SandboxGateway
from admitone.finance.payments import api as payments
from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations import api as organizations
from admitone.foundation.organizations.api import (
    Invoicing,
    InvoicingDuty,
    Layout,
    LegalDocument,
    Question,
    Settings,
)
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.words import Language

Module = OrganizationModule
Outcome = TypeVar("Outcome")

MONTH: Final = timedelta(days=30)
"""So long ago it begins."""
CLUB: Final = "aurora"
HALL: Final = "bravo"
ORGANIZATIONS: Final = {
    CLUB: (
        Settings(
            "Clube Aurora",
            legal_name="Clube Aurora, Lda.",
            tax_id="501234567",
            tax_country="PT",
            invoice_prefix="AUR",
            invoice_address=("Rua das Flores 12", "4050-262 Porto"),
            invoice_email="invoices@aurora.example",
            time_zone="Europe/Lisbon",
            language=Language.PORTUGUESE,
            invoicing=Invoicing.EXTERNAL,
            invoicing_software="Faturas de Demonstração",
        ),
        frozenset(Module),
    ),
    HALL: (
        Settings(
            "Sala Bravo",
            legal_name="Sala Bravo Eventos Ltda.",
            tax_id="12345678000195",
            tax_country="BR",
            invoice_prefix="BRV",
            invoice_address=("Rua Augusta 1500", "01304-001 São Paulo"),
            invoice_email="invoices@bravo.example",
            default_currency="BRL",
            time_zone="America/Sao_Paulo",
            language=Language.BRAZILIAN,
            invoicing=Invoicing.MANUAL,
            invoicing_duties=tuple(InvoicingDuty),
            accent_color="#8a1c4a",
        ),
        frozenset({Module.EVENTOS, Module.FINANCEIRO, Module.CRM}),
    ),
}
PROFILES: Final = {
    CLUB: Layout(
        tagline="Música ao vivo junto ao Douro, de quinta a domingo.",
        about="O Clube Aurora abriu em 1987 num armazém de vinho e nunca perdeu o sotaque. São três salas, uma varanda"
        " sobre o rio e um palco onde cabem tanto uma orquestra de bairro como uma banda que ainda não tem nome.\n\n"
        "Uma vez por ano saímos para o jardim com o Festival Aurora. No resto do tempo há discos, jazz no terraço e"
        " uma exposição na galeria do primeiro andar.",
        faq=(
            Question("A que horas abrem as portas?", "Uma hora antes do início indicado no bilhete."),
            Question(
                "Há lugares para cadeiras de rodas?",
                "Sim, nas três salas, com entrada de nível pela Rua das Flores. Escreva-nos e guardamos o lugar.",
            ),
            Question("Posso sair e voltar a entrar?", "Pode, com o mesmo bilhete, até uma hora antes do fim."),
        ),
        website="https://aurora.example/",
        phone="+351 220 000 123",
        address="Rua das Flores 12, 4050-262 Porto",
    ),
    HALL: Layout(
        tagline="Samba de raiz no coração da Rua Augusta.",
        about="A Sala Bravo tem uma roda no meio, mesas em volta e um bar que abre cedo.\n\n"
        "Quem toca chega às sete, quem dança chega quando quer. A bilheteria abre duas horas antes.",
        faq=(
            Question("Tem meia-entrada?", "Tem. Leve o documento: ele é conferido na porta."),
            Question("Onde estaciono?", "Há um estacionamento conveniado no número 1520, na mesma calçada."),
        ),
        website="https://bravo.example/",
        phone="+55 11 5550-0199",
        address="Rua Augusta 1500, São Paulo",
    ),
}
"""What each says of itself to everybody."""


@dataclass(frozen=True)
class House:
    name: str
    own: OrganizationId
    owner: Caller
    today: datetime
    """The day on which it was laid out, a month after it was founded."""

    @property
    def scope(self) -> Scope:
        return Scope(self.own, PURPOSE)

    @property
    def settings(self) -> Settings:
        return ORGANIZATIONS[self.name][0]


async def open_house(ground: Ground, name: str, people: dict[str, IdentityId]) -> House:
    """As its owner does: found it, staff it, say who it is, agree to what there is, and open an account. What was done
    before is refused, and stays."""
    settings, modules = ORGANIZATIONS[name]
    owner = Caller(people[f"owner@{name}.example"])
    own = organizations.new_id(owner, f"demo:{name}")
    run, scope = ground.database.run, Scope(own, PURPOSE)
    await run(scope, lambda tx: organizations.found(tx, [organizations.Founding(owner, own, settings, modules)]))
    founded = await ground.database.read(scope, organizations.get_organization)
    house = House(name, own, owner, founded.created_at + MONTH)
    staff = [organizations.Appointment(owner, people[email], member) for email, member in staff_of(name).items()]
    await run(scope, lambda tx: organizations.appoint(tx, staff))
    official = organizations.OfficialEmailChange(owner, f"office@{name}.example", "DEMONSTRATION")
    await run(scope, lambda tx: organizations.vouch_for_official_email(tx, [official]))
    agreed = [
        organizations.Acceptance(owner, document, max(organizations.ON_OFFER[document])) for document in LegalDocument
    ]
    await run(scope, lambda tx: organizations.accept_documents(tx, agreed))
    told = organizations.LayoutChange(owner, 0, PROFILES[name])
    await run(scope, lambda tx: organizations.change_profile(tx, [told]))
    if ground.simulator is not None:
        await _open_account(ground, house, ground.gateway)
    return house


async def _open_account(ground: Ground, house: House, gateway: SandboxGateway) -> None:
    """Where nobody did so before; who looks at the sandbox's page finds it complete."""
    run, scope = ground.database.run, house.scope
    opening = payments.Opening(house.owner, gateway.provider, gateway.livemode)
    [opened] = await run(scope, lambda tx: payments.open_accounts(tx, [opening]))
    opened = done(opened)
    if opened.account is not None:
        return
    account = await gateway.open_account(opened.order)
    assert isinstance(account, Account)
    assert ground.simulator is not None
    ground.simulator.act("complete", account.id)
    complete = await gateway.find_account(house.owner, account.id)
    assert isinstance(complete, Account)
    told = payments.AccountTold(house.owner, gateway.provider, complete, opened.at)
    [kept] = await run(scope, lambda tx: payments.keep_accounts(tx, [told]))
    done(kept)


def done(outcome: Outcome | Refusal) -> Outcome:
    """What must not be refused here."""
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome
