"""The door for operators: prove, and say what was found."""

from admitone.finance.proof.model import Check, Difference, Figures, Finding, Verdict, Word
from admitone.finance.proof.proving import ACROSS, Prover

__all__ = ("ACROSS", "Check", "Difference", "Figures", "Finding", "Prover", "Verdict", "Word")
