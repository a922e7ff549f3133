"""Parameters tab: where is every weight, and what do sharing and factorising save?"""
