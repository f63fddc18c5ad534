"""What people see: pages for buyers, stewards, organisers and whoever runs the platform.

Promise: a page knows nothing that the API does not say. It asks contracts, in process and as the person who looks at
it, so that whatever is refused there is refused here (`Call.ask`); it owns no table, no rule and no permission. Every
page is complete without a script; scripts only make it livelier. Nothing comes from elsewhere.

page.py     how a page is declared and shown        form.py      what was typed, and what is wrong with it
assets.py   styles, scripts and pictures            port.py      how people are turned away
language.py the language a person chose

account/    signing in and out, proving again that it is you
"""
