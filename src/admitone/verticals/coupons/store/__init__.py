"""The statements of coupons."""
