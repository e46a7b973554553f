//! The ECN field of an IP header (RFC 3168, section 5).

/// An ECN codepoint. The discriminants are the two bits in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not take marks: a queue can only drop this packet.
    #[default]
    NotEct = 0,
    /// ECN-capable, and by RFC 9331 the identifier of the L4S service.
    Ect1 = 1,
    /// ECN-capable, classic (RFC 3168).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Returns the codepoint in the low two bits of `bits`. The other bits are ignored.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns the two bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Returns whether a queue may mark the packet instead of dropping it: ECT(0), ECT(1), and CE, which is already
    /// marked.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_rfc_3168_figure_2() {
        let table = [(0, Ecn::NotEct, false), (1, Ecn::Ect1, true), (2, Ecn::Ect0, true), (3, Ecn::Ce, true)];
        for (bits, codepoint, capable) in table {
            assert_eq!(Ecn::from_bits(bits), codepoint);
            assert_eq!(codepoint.bits(), bits);
            assert_eq!(codepoint.is_capable(), capable);
        }
    }
}
