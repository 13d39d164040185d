import { expect, test } from 'vitest'
import {
  containerCheckDigit,
  imoCheckDigit,
} from '../../../../src/extensions/simulator/world/check-digits.js'

test.each(['CSQU3054383', 'MSKU4807969', 'TCLU6718159', 'FFAU3144344'])(
  'the check digit of container %s is its last',
  (number) => {
    expect(containerCheckDigit(number.slice(0, 10))).toBe(Number(number.slice(10)))
  },
)

test.each(['9074729', '9850551', '9301809', '9605243'])(
  'the check digit of IMO number %s is its last',
  (number) => {
    expect(imoCheckDigit(number.slice(0, 6))).toBe(Number(number.slice(6)))
  },
)
