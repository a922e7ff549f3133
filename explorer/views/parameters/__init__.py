"""Where does every weight sit, and what do sharing and factorising buy? The pictures."""
