"""Figures."""

FIGURES = {}
