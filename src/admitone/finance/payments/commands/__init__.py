"""What payments do: begin, record what happened, see to what is left over."""
