"""What there is: disciplines, congestion controls, kinds of traffic and of hops, studies and more."""
