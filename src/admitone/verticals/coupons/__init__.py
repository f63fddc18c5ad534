"""Campaigns that an organisation pays for before, and coupons that people redeem there.

Owns: campaigns, the codes of coupons.
Words: a *campaign* runs for so many days from when it was paid, or until it was redeemed as often as it may be; a
*token* is what the QR of a coupon says: good for 300 seconds, for one person, for one use; a *merchant* is the
organisation whose campaign it is, and takes tokens; a *consumer* is a person, and asks for them.
Never: takes money or says that it came (payments do), is asked without a network, names anybody.
"""
